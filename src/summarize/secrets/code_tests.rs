//! Ordinary code that resembles secrets, of the kinds that real repositories have, and its counterparts that are some.

use super::scan::{redact, scan};

#[track_caller]
fn redacted(text: &str) -> String {
    redact(text, &scan(text).unwrap())
}

#[test]
fn ordinary_code_is_not_redacted() {
    for text in [
        // Members, scopes and calls.
        "  clientSecret: process.env.GITHUB_SECRET!,\n  apiKey: process.env.API_KEY!,\n",
        "[\n  InvalidCredentialsException::class,\n  ResetPassword::class,\n  Token::SeqEnd,\n]\n",
        "h.Set(\"Authorization\", \"Basic \"+base64.StdEncoding.EncodeToString([]byte(\"a:b\")))\n",
        "n.psk = saved_nw.psk\nn.psk = calculatePsk(n.ssid, n.password)\n  psk = setting.psk,\n",
        "f(\n  SHOP_PASSWORD=shop_password,\n  PULP_PASSWORD=str(self._get_cloud_config(PULP_NAME_1)),\n)\n",
        "variables.update(ansible_password=connection.password)\n",
        // The end of a call, and what follows the call that has a name as its argument.
        "with Popen(args,\n           pass_fds=pass_fds):\n    output = p.communicate()\n",
        "self.assertEqual(fds, set(pass_fds), f\"output={output!a}\")\n",
        "log(mask(password), \"attempt=%1!\")\n",
        "names = ['pem_password_cb', 'X509_info_st']\n",
        "subprocess.run(['x', 'key.passwd.pem', '-aes256', '-passout'])\nself.assertEqual(passValue('str\\x00ing'), 1)\n",
        "password = password.encode(\"utf-16-le\")\n",
        "fail(\"Expected token \"+expToken1+\", current token \"+actToken);\n",
        "import secretCmd \"github.com/cli/cli/v2/pkg/cmd/secret\"\n",
        // Types, tags, scopes and comparisons.
        "use crate::auth_token::model_2024::get_b;\n16 => TrafficSecrets::Aes128Gcm { key, iv },\n",
        "    signature_alg_id: alg_id::ECDSA_SHA256,\n    let psk = ClientExtensions {\n        a: 1,\n    };\n",
        "use {RegEnumKeyExW, RegOpenKeyExW, RegQueryValueExW};\nlet err = RegQueryValueExW(key);\n",
        "type V struct {\n\tTok AccessToken `json:\"tok\"`\n\tGlobal ConfigSecretValues `yaml:\"global\"`\n}\n",
        "if self.password_lock and a.lstrip('*LOCKED*') != self.password.lstrip('*LOCKED*'):\n",
        // Names in lists, maps and calls.
        "m = [\n  M(\"HTTPPasswordMgr\", \"urllib2\", \"urllib.request\"),\n  M(\"URLError\", \"urllib2\", \"urllib.error\"),\n]\n",
        "tokenFlag := \"--scheduler-k3s-global-token\"\nm = {\n  \"a\": reportSecrets,\n  \"--k3s-class\": x,\n  \"k3s9class\": y,\n}\n",
        "    'PSAvoidUsingPlainTextForPassword',\n    'PSAvoidUsingConvertToSecureStringWithPlainText',\n",
        "KRB5_PASSWORD_ENV = 'KRB5_PASSWORD'\napiKey: '[a-f0-9]+'\n",
        "  'usage/secrets.md': 'api/types.md#x1.types.Secret'\n  'usage/string_types.md': 'api/types.md'\n",
        "site/token.py,sha256=EhSml-RGVtx7QjIo3ctHqUlMWdmJTGujK0RlWQmFPjw,6780\n",
        "A /* keyDER.der in Resources */ = {isa = F; fileRef = 31181E1A2794FF9600E88600 /* keyDER.der */; };\n",
        "    \"js-tokens\": \"^4.0.0\",\n    \"other\": \"^4.0.0\"\n",
        "Version=4.0.0.0, PublicKeyToken=b03f5f7f11d50a3a\n",
        "t.pass(\"tests/pass/*.rs\");\nequal(split('User:Pass'), ('User:Pass', 'www.example.com:80'))\n",
        // Types in quotes, classes, casts, and tokens of a language.
        "def sign(private_key: \"_EllipticCurvePrivateKey\", token: \"AccessTokenV2\"):\n",
        "private_key: \"_EllipticCurvePrivateKey\" = None\n",
        "  token: \"AccessTokenV2\"\n\nclass AccessTokenV2(Base):\n    pass\n",
        "from x import a, AccessTokenV2\n  token: \"AccessTokenV2\",\n",
        "from pytest import RemovedIn10Warning\n\nPASTEBIN = PytestRemovedIn10Warning(\"The plugin is deprecated.\")\n",
        "  foo_object *psk = (foo_object *)self;\n  wpa_passphrase = config->passphrase2;\n  psk = default_psk_value;\n",
        "  int maxpsk = compute_value1\n  psk = entries[3].value2;\n",
        "quoted_token_parser(\"a1.{name\")\nparse_token('name\".\"other')\nnew TextToken(\"}space}\");\n",
        "check_password(\"[user]:x1\")\nsplituser('user[:passwd]@host[:port]') -> 'user[:passwd]', 'host[:port]'\n",
        "    (\"def f() -> 'MyType': pass\", \"'MyType'\"),\n    (\"if x: pass\", \"x[1]+y\"),\n",
        "e.execution_options(logging_token=\"track1\")\n",
        "// Under --pass c/obj/asm/ir they persist.\n",
        // Documents.
        "/// token          = 1*tchar\n",
        "<a class=\"token\" href=\"#/s:9Alamofire7RequestC\">Request</a>\n",
        "Elements stay in place--pass `strict=False`.\n",
        "# grub2-mkpasswd-pbkdf2\n\nRun `grub2-mkpasswd-pbkdf2 -c 1`.\n# BR2_ARM_FPU_VFPV3D16 is not set\n",
        "L = \"Lcom/foo/Bar$Baz$2$1$$ExternalSyntheticLambda0;\"\n# Foo$2$1$1$recordRetainedStateRegistry$1;\n",
        "Signature: 8a477f597d28d172789f06886806bc55\n",
        "sha256 = \"162dywda2dvfj1248afxc45kcrg83appjd0nmdb541hl7rnncf02\";\nx = \"xn--egbpdaj6bu4bxfgehfvwxn\"\n",
        "azureblockblob://DefaultAzureCredential@STORAGE_ACCOUNT_URL\n",
        "env('AZURE_OPENAI_EMBEDDING', 'text-embedding-3-small')\n",
        "NAME READY\ncoredns-844dbb9f6f-9g9lg 1/1\nami_id = \"ami-0ff61e0bcfc81dc94\"\n",
        "| `password` | The password | `map(string)` | `null` |\n| tags | Tags | `map(string)` | `{}` |\n",
        "\"ca\" = \"LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUMrVENDQWVHZ0F3SUJBZ0lVRWJkeFpsYTFVUGErV09KL2Nzb1lFTnFMOXJNd0RRWUpLb1pJaHZjTkFRRUwKQlFBd0RERUtNQWdHQTFVRUF3d0JlREFlRncweU5qRXhNamd4TURNNU16bGFGdzB5TmpFeE1qa3hNRE01TXpsYQpNQXd4Q2pBSUJnTlZCQU1NQVhnd2dn\"\n",
    ] {
        assert_eq!(redacted(text), text);
    }
}

#[test]
fn secrets_in_similar_places_are_redacted() {
    for (text, secret) in [
        ("  clientSecret: Tr0ub4dor!,\n", "Tr0ub4dor"),
        ("h.insert(Name::new(\"x-secret\"), \"hunter2!x\")\n", "hunter2!x"),
        ("  password=hunter2!):\n", "hunter2!"),
        ("  password: correct.horse!\n", "correct.horse"),
        ("  password: ?correct.h0rse,\n", "correct.h0rse"),
        ("Authorization: Basic Zm9vOmJhcnF1dXg3MjE=\n", "Zm9vOmJh"),
        ("psk=hunter2!x(y\n", "hunter2!x"),
        ("psk=\"my.horse\"\n", "my.horse"),
        ("ansible_password=Tr0ub4dor3\n", "Tr0ub4dor3"),
        ("DB_PASSWORD=Tr0ub4dor,\n", "Tr0ub4dor"),
        ("Password Secret `q8Zt3Lw0pX`\n", "q8Zt3Lw0pX"),
        ("define('DB_PASSWORD', 'hunter2!');\nset(\"ClientSecret\", \"hunter22\")\n", "hunter2"),
        ("set(\"ResetPasswordForm\", \"q8Zt3Lw0pX\")\n", "q8Zt3Lw0pX"),
        ("if password.startswith('q8Zt3Lw0pXv7Rk'):\n", "q8Zt3Lw0pXv7Rk"),
        ("<add name=\"password\" default=\"hunter2!\"/>\n", "hunter2!"),
        ("password--token = \"hunter2!\"\n", "hunter2!"),
        ("token: \"AccessTokenV2\"\nclass is AccessTokenV2 now\n", "AccessTokenV2"),
        ("psk=letmein;\npsk=hunter22;\n", "hunter22"),
        ("wifi_psk = hunter22\n", "hunter22"),
        ("psk = (hunter22)x\n", "(hunter22)x"),
        ("mysql --password hunter2x; echo\n", "hunter2x"),
        ("PASTEBIN = q8Zt3Lw0pXv7Rk2Nf5Yb9Hc4(x\n", "q8Zt3Lw0pXv7Rk2Nf5Yb9Hc4"),
        ("parse_token(\"q8Zt3Lw0pXv7Rk\")\n", "q8Zt3Lw0pXv7Rk"),
        ("db_password=\"track1\"\nsecret_token=\"track1\"\n", "track1"),
        ("password: \"'hunter2!'\"\n", "hunter2!"),
        ("secrets.json: q8Zt3Lw0pXv7Rk2Nf5Yb9Hc4\n", "q8Zt3Lw0pXv7Rk2Nf5Yb9Hc4"),
        ("x = f('q8Zt3Lw0pXv7-Rk2Nf5Yb9Hc4')\n", "q8Zt3Lw0pXv7"),
    ] {
        let safe = redacted(text);
        assert!(!safe.contains(secret), "{safe}");
    }
    let hash = ["$1", "$ab3dEf9h$q8Zt3Lw0pXv7Rk2Nf5Yb91"].concat();
    for text in [format!("root:{hash}:1\n"), format!("x{hash}\n")] {
        assert!(!redacted(&text).contains("q8Zt3Lw0"), "{text}");
    }
}

#[test]
fn a_password_like_an_ordinary_word_is_redacted_only_in_its_place() {
    let text = "postgres://petclinic:petclinic@db/petclinic\nimport petclinic\n";
    let expected = "postgres://petclinic:(redacted:address-password)@db/petclinic\nimport petclinic\n";
    assert_eq!(redacted(text), expected);
}

#[test]
fn a_password_of_a_netrc_file_ends_with_the_string_that_it_is_in() {
    let hidden = "(redacted:netrc-password)";
    for text in [
        "file.write_text(\"machine h login me password q8\\\"Zt3Lw0\\n\")\n",
        "contents = ('machine h login me password q8Zt3\"Lw0')\n",
        "machine h login me password q8\"Zt3Lw0\nmachine i\n",
        "default login me password q8)Zt3'Lw0",
    ] {
        let start = text.find("q8").unwrap();
        let end = text.find("Lw0").unwrap() + 3;
        assert_eq!(redacted(text), format!("{}{hidden}{}", &text[..start], &text[end..]));
    }
}

#[test]
fn what_is_no_secret_in_code_stays() {
    for text in [
        "interface RateLimiter {\n  static <T> T run(RateLimiter limiter, CheckedFunction0<T> s);\n",
        "const delimiter = utf8ToArrayValue;\n",
        "psql --no-password --no-psqlrc -U admin\n",
        "foo --without-token --verbose1; bar --no-token --output-format json\n",
        "foo --with-password --verbose1\n",
        "command: [\"CMD\", \"mysqladmin\", \"--skip-password\", \"--protocol=tcp\"]\n",
        "$a = ['password' => '--password='.$connection['password'],\n    'x' => 1];\n",
        "'password' => 25000000,\n",
        "#define SYSCFG_CFGR2_DFSDM2CKINSEL4x7qZ 1\n#ifndef SYSCFG_CFGR2_DFSDM2CKINSEL4x7qZ\n",
        "ALTER TABLE t ADD CONSTRAINT \"FK_0e8c1a9d4f2b6a7c3e5d8f9a1b2\" FOREIGN KEY (a);\n",
        "alter table t add constraint fk_mgtst_mtm_c_mgtst_mt_93awga foreign key (a);\n",
        "ARG GOSU_GPG_KEY=B42F6819007F00F88E364FD4036A9C25BF357DD4\n",
        "jdbc:mysql://db/shop?user=shop&password=${DB_PASS}&ssl=true\n",
        "jdbc:h2:mem:test;USER=sa;PASSWORD=password\n",
    ] {
        assert_eq!(redacted(text), text);
    }
    for (text, secret) in [
        ("MITE_KEY = 'q8zt3lw0pxv7rk2n'\n", "q8zt3lw0pxv7rk2n"),
        ("run --password q8Zt3Lw0pXv7Rk --no-token\n", "q8Zt3Lw0pXv7Rk"),
        ("'password' => 'hunter2!x',\n", "hunter2!x"),
        ("password: 73519284\n", "73519284"),
        ("jdbc:mysql://db/shop?password=sunshine&user=shop\n", "sunshine"),
        ("jdbc:sqlserver://db;user=sa;password=MyPa$$word!;ssl=1\n", "MyPa$$word!"),
        ("slapikey := \"k3v9z1q8w2r7t5y4u6i0p1a9s8d7f6g5h4j3k2l1z0x9c8v7\"\n", "k3v9z1q8w2r7"),
    ] {
        assert!(!redacted(text).contains(secret), "{text}");
    }
}

#[test]
fn a_text_in_the_next_line_that_is_a_key_is_not_joined_to_a_value() {
    let text = "a:\n  password: 'hunter2!x'\n  'other name': 'y'\n";
    assert_eq!(redacted(text), "a:\n  password: '(redacted:assigned-secret)'\n  'other name': 'y'\n");
}

#[test]
fn a_key_in_the_next_line_of_toml_is_not_joined_to_a_value() {
    let text = "\"db-password\" = \"hunter2!x\"\n\"cluster-dns-ip\" = [\"192.168.0.10\"]\n";
    assert_eq!(redacted(text), text.replace("hunter2!x", "(redacted:assigned-secret)"));
}

#[test]
fn what_closes_the_text_around_a_private_key_is_kept() {
    let key = |joint: &str| {
        let parts = ["-----BEGIN RSA PRIV", "ATE KEY-----", joint, "MIIEpAIBAAKCAQEAq8Zt3Lw0pXv7", joint];
        parts.concat() + "-----END RSA PRIVATE KEY-----"
    };
    for (joint, kept, behind) in [
        ("\n", "\n\n", "\"\"\"\n\ndef f():\n"),
        ("\n", "\n\n", "`;\nlet x;\n"),
        ("\\n", "", "\\n\", \"email\": \"x\"}\n"),
    ] {
        let text = format!("KEY = \"\"\"{}{behind}", key(joint));
        assert_eq!(redacted(&text), format!("KEY = \"\"\"(redacted:private-key){kept}{behind}"));
    }
}

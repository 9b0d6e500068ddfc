//! `CommonJS`: the result of `require`, the exports of a file, and members of objects and constructors.

use super::references;

fn assert_found(texts: &[(&str, &str)], expected: &[&str], without: &[&str]) {
    let found = references(texts);
    for row in expected {
        assert!(found.iter().any(|found| found == row), "{row} is not in {found:#?}");
    }
    for part in without {
        assert!(!found.iter().any(|found| found.contains(part)), "{part} is in {found:#?}");
    }
}

#[test]
fn a_required_name_means_the_export_of_the_file() {
    let library = [
        "exports.one = function () {};",
        "exports.two = function named() { named(); };",
        "function three() {}",
        "module.exports.renamed = three;",
        "var hidden = function () {};",
        "exports.open = () => exports.one();",
    ];
    let user = [
        "const lib = require('./lib');",
        "const { two, renamed: local } = require('./lib/index.js');",
        "const one = require('./lib').one;",
        "lib.one(); two(); local(); one();",
        "lib.renamed();",
        "lib.hidden();",
        "function late() { return require('./lib').open(); }",
    ];
    assert_found(
        &[("lib/index.js", &library.join("\n")), ("a.js", &user.join("\n"))],
        &[
            "lib/index.js:2 -> two sure",
            "lib/index.js:4 -> three sure",
            "lib/index.js:6 -> one sure",
            "a.js:4 -> lib/index.js/one sure",
            "a.js:4 -> lib/index.js/two sure",
            "a.js:4 -> lib/index.js/three sure",
            "a.js:5 -> lib/index.js/three sure",
            "a.js:7 -> lib/index.js/open sure",
        ],
        &["hidden"],
    );
}

#[test]
fn a_whole_value_is_exported_through_other_files_and_folders() {
    let make = "exports = module.exports = make;\nfunction make() {}\nexports.part = function () {};\n";
    let table = "function a() {}\nmodule.exports = { a, b: a, c() { return a(); }, d: function () {} };\n";
    let class = "module.exports = class Engine {\n  run() {}\n};\n";
    let user = [
        "var make = require('..');",
        "make();",
        "make.part();",
        "var table = require('../lib/table');",
        "table.a(); table.b(); table.c();",
        "table.d(table.missing());",
        "var Machine = require('../lib/engine');",
        "new Machine().run();",
        "import Default from '../lib/engine';",
        "new Default();",
    ];
    assert_found(
        &[
            ("index.js", "module.exports = require('./lib/make');\n"),
            ("lib/make.js", make),
            ("lib/table.js", table),
            ("lib/engine.js", class),
            ("test/a.js", &user.join("\n")),
        ],
        &[
            "index.js:1 -> lib/make.js/make sure",
            "test/a.js:2 -> lib/make.js/make sure",
            "test/a.js:3 -> lib/make.js/part sure",
            "test/a.js:5 -> lib/table.js/a sure",
            "test/a.js:5 -> lib/table.js/c sure",
            "test/a.js:6 -> lib/table.js/d sure",
            "test/a.js:8 -> lib/engine.js/Engine sure",
            "test/a.js:8 -> lib/engine.js/Engine.run sure",
            "test/a.js:10 -> lib/engine.js/Engine sure",
        ],
        &["missing"],
    );
}

#[test]
fn exports_that_are_assigned_twice_or_by_computed_names_are_not_sure() {
    let twice =
        "exports.run = function () {};\nif (process) {\n  exports.run = other;\n}\nfunction other() {}\n";
    let computed = "exports.go = function () {};\nexports[process.name] = 1;\n";
    let announced = "exports.stay = void 0;\nexports.stay = function () {};\n";
    let user = "require('./twice').run();\nrequire('./computed').go();\nrequire('./announced').stay();\n";
    let files = [("twice.js", twice), ("computed.js", computed), ("announced.js", announced), ("a.js", user)];
    assert_found(
        &files,
        &[
            "a.js:1 -> twice.js/run maybe",
            "a.js:2 -> computed.js/go likely",
            "a.js:3 -> announced.js/stay sure",
        ],
        &["run sure", "go sure"],
    );
}

#[test]
fn functions_that_are_assigned_to_an_object_or_a_prototype_are_its_members() {
    let response = [
        "var res = Object.create(http.ServerResponse.prototype);",
        "module.exports = res;",
        "res.sendFile = function sendFile() { this.status(1); };",
        "res.status = function (code) { run(function () { this.status(); }); };",
        "res.type = res.contentType = () => 1;",
    ];
    let view = [
        "function View() { this.lookup(); }",
        "View.prototype.lookup = function () { this.render(); };",
        "View.prototype.render = function render() {};",
        "View.make = function () { return new View(); };",
        "function Special() { this.render(); }",
        "util.inherits(Special, View);",
        "Special.prototype = { draw() { this.lookup(); } };",
        "module.exports = View;",
    ];
    let user = [
        "const res = require('./response');",
        "const View = require('./view');",
        "res.status(); res.contentType();",
        "View.make().render();",
        "new View().lookup();",
        "app.use((req, res) => { res.sendFile(); res.status(); other.status(); });",
    ];
    assert_found(
        &[("response.js", &response.join("\n")), ("view.js", &view.join("\n")), ("a.js", &user.join("\n"))],
        &[
            "response.js:2 -> res sure",
            "response.js:3 -> res.status sure",
            "response.js:4 -> res.status maybe",
            "view.js:1 -> View.lookup sure",
            "view.js:2 -> View.render sure",
            "view.js:5 -> View.render sure",
            "view.js:7 -> View.lookup sure",
            "a.js:3 -> response.js/res.status sure",
            "a.js:3 -> response.js/res.type sure",
            "a.js:4 -> view.js/View.render sure",
            "a.js:5 -> view.js/View.lookup sure",
            "a.js:6 -> response.js/res.sendFile likely",
            "a.js:6 -> response.js/res.status maybe",
        ],
        &["a.js:6 -> response.js/res.status sure", "a.js:6 -> response.js/res.sendFile sure"],
    );
}

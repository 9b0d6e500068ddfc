{
  description = "Prompt-ready context from a project: outlines, skeletons and summaries of its files";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs =
    { self, nixpkgs }:
    let
      systems = [
        "x86_64-linux"
        "aarch64-linux"
        "x86_64-darwin"
        "aarch64-darwin"
      ];
      forAllSystems = make: nixpkgs.lib.genAttrs systems (system: make nixpkgs.legacyPackages.${system});
      manifest = (nixpkgs.lib.importTOML ./Cargo.toml).package;
    in
    {
      packages = forAllSystems (pkgs: {
        default = pkgs.rustPlatform.buildRustPackage {
          pname = manifest.name;
          inherit (manifest) version;
          src = self;
          cargoLock.lockFile = ./Cargo.lock;
          nativeBuildInputs = [ pkgs.installShellFiles ];
          # There is no git in a build: the flake names the commit.
          COMMIT_OF_SLOP =
            let
              date = self.lastModifiedDate or "19800101000000";
              part = start: length: builtins.substring start length date;
            in
            "${builtins.substring 0 12 (self.rev or self.dirtyRev or "unknown")} ${part 0 4}-${part 4 2}-${part 6 2}";
          # The tests start daemons and a git of their own; CI runs them.
          doCheck = false;
          postInstall = ''
            $out/bin/slop man > slop.1
            installManPage slop.1
            installShellCompletion --cmd slop \
              --bash <($out/bin/slop completions bash) \
              --zsh <($out/bin/slop completions zsh) \
              --fish <($out/bin/slop completions fish)
            install -Dm644 systemd/slop@.service -t $out/share/systemd/user
            substituteInPlace $out/share/systemd/user/slop@.service --replace-fail ":slop " ":$out/bin/slop "
          '';
          meta = {
            inherit (manifest) description;
            license = with nixpkgs.lib.licenses; [
              mit
              asl20
            ];
            mainProgram = "slop";
          };
        };
      });

      devShells = forAllSystems (pkgs: {
        default = pkgs.mkShell {
          packages = [
            pkgs.cargo
            pkgs.clippy
            pkgs.git
            pkgs.rustc
            pkgs.rustfmt
          ];
        };
      });
    };
}

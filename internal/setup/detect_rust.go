package setup

import (
	"path"

	"github.com/pelletier/go-toml/v2"
)

// cargo looks for a package or a workspace of Rust.
func cargo(l *look, dir string) bool {
	text := l.repo.read(path.Join(dir, "Cargo.toml"))
	if text == "" {
		return false
	}
	var m struct{ Workspace map[string]any }
	if err := toml.Unmarshal([]byte(text), &m); err != nil {
		l.unused(path.Join(dir, "Cargo.toml"), "it cannot be read")
		return true
	}
	options, why := "", "Cargo.toml"
	if l.repo.first(dir, "Cargo.lock") != "" {
		options, why = " --locked", "Cargo.toml and Cargo.lock"
	}
	hosts := l.repo.fetches(dir, crateHosts(), "Cargo.lock", ".cargo/config.toml")
	if l.repo.first(dir, "rust-toolchain", "rust-toolchain.toml") != "" {
		hosts = append(hosts, "static.rust-lang.org")
	}
	l.add(&l.found.Setup, "crates", "cargo fetch"+options, why).Hosts = hosts
	if m.Workspace != nil {
		options += " --workspace"
	}
	l.test("cargo", "cargo test"+options, "Cargo.toml").Timeout = "30m"
	if file := l.repo.first(dir, "rustfmt.toml", ".rustfmt.toml"); file != "" {
		l.add(&l.found.Checks, "format", "cargo fmt --check", file)
	}
	return true
}

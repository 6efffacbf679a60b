#!/bin/sh
# Installs reprise @VERSION@ for the user who runs this:
#
#   curl -fsSL @SERVER@/@REPOSITORY@/releases/download/@VERSION@/install.sh | sh
#
#   REPRISE_PREFIX         where bin goes; ~/.local unless it is given
#   REPRISE_RELEASES_URL   another place for the files of all releases, such as
#                          a mirror inside a network: https://... or file:///...
#
# The archive is installed only if its SHA-256 is one of those below.
set -eu

sums='@SUMS@'

fail() {
	echo "reprise was not installed: $*" >&2
	exit 1
}

# All of it is a function that is called at the end: a download that broke off
# runs nothing.
install() {
	case $(uname -s) in
	Linux) system=linux ;;
	Darwin) system=darwin ;;
	*) fail "it runs on Linux and macOS, and this is $(uname -s)" ;;
	esac
	case $(uname -m) in
	x86_64 | amd64) processor=amd64 ;;
	aarch64 | arm64) processor=arm64 ;;
	*) fail "there is no release for a $(uname -m) processor; with Go, it can be built from its source" ;;
	esac
	prefix=${REPRISE_PREFIX:-${HOME:?HOME is not set; set REPRISE_PREFIX to the folder to install into}/.local}
	archive=reprise_@VERSION@_${system}_${processor}.tar.gz
	base=${REPRISE_RELEASES_URL:-@SERVER@/@REPOSITORY@/releases/download}
	url=${base%/}/@VERSION@/$archive
	scratch=$(mktemp -d)
	trap 'rm -rf "$scratch" "$prefix/bin/.reprise.$$"' EXIT
	curl --fail --silent --show-error --location --proto '=https,file' --proto-redir '=https' --retry 3 --connect-timeout 15 \
		--output "$scratch/$archive" "$url" ||
		fail "$url cannot be downloaded; curl says why above"
	if command -v sha256sum >/dev/null; then
		got=$(sha256sum "$scratch/$archive")
	else
		got=$(shasum -a 256 "$scratch/$archive")
	fi
	want=$(echo "$sums" | grep -F "  $archive") || fail "@VERSION@ has no $archive"
	[ "${got%% *}" = "${want%% *}" ] ||
		fail "$archive is not what @VERSION@ is made of: its SHA-256 is ${got%% *}, and must be ${want%% *}"
	mkdir -p "$scratch/files" "$prefix/bin"
	tar -xzf "$scratch/$archive" -C "$scratch/files"
	# In one move: a reprise that is at work keeps its own file.
	cp "$scratch/files/reprise" "$prefix/bin/.reprise.$$"
	mv "$prefix/bin/.reprise.$$" "$prefix/bin/reprise"
	echo "reprise @VERSION@ is installed: $prefix/bin/reprise"
	case :$PATH: in
	*:"$prefix/bin":*) ;;
	*) echo "$prefix/bin is not in your PATH; add it, for example in ~/.profile: export PATH=\"$prefix/bin:\$PATH\"" ;;
	esac
}

install

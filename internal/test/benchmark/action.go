package main

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"github.com/reprise-ci/reprise/internal/test/benchmark/bench"
)

// action measures what a job of a workflow pays before the program is there:
// from the archive of a release on this disk to the first line that the
// program prints. Downloading comes on top.
func action(b *bench.Bench) error {
	archive := fmt.Sprintf("reprise_v1.2.3_%s_%s.tar.gz", runtime.GOOS, runtime.GOARCH)
	file := filepath.Join(b.Dir, "releases", "v1.2.3", archive)
	start := filepath.Join(b.Dir, "action", ".github", "action", "start")
	lay := `mkdir -p "${1%/*}" "${2%/*}" && cp .github/action/start "$2" && tar -C "$3" -cf - reprise | gzip -9 >"$1"`
	if err := b.Command("", "sh", "-c", lay, "sh", file, start, b.Dir).Run(); err != nil {
		return err
	}
	sum, err := sumOf(file)
	if err != nil {
		return err
	}
	sums := fmt.Sprintf("# acme/reprise v1.2.3\n%s  %s\n", sum, archive)
	if err := os.WriteFile(filepath.Join(filepath.Dir(start), "checksums.txt"), []byte(sums), 0o644); err != nil {
		return err
	}
	temp := filepath.Join(b.Dir, "temp")
	// What is left of the one before is removed in each: a runner does so between
	// two jobs.
	ours, err := bench.Repeat(21, func() error {
		if err := os.RemoveAll(temp); err != nil {
			return err
		}
		c := b.Command("", start, "--version")
		c.Env = append(c.Env, "RUNNER_TEMP="+temp, "RUNNER_TOOL_CACHE=", "REPRISE_RELEASES_URL=file://"+filepath.Join(b.Dir, "releases"), "INPUT_VERSION=")
		return c.Run()
	})
	if err != nil {
		return err
	}
	plain := `rm -rf "$1" && mkdir "$1" && cd "$1" && [ "$(sha256sum <"$2")" = "$3  -" ] && tar -xzf "$2" reprise && exec ./reprise --version`
	least, err := bench.Repeat(21, func() error { return b.Command("", "sh", "-c", plain, "sh", temp, file, sum).Run() })
	if err != nil {
		return err
	}
	b.Times("action: archive on disk to first line", ours, least, "ratio <= 1.25", "a shell line: sha256sum, tar, exec")
	return nil
}

// sumOf gives the SHA-256 of a file, in hexadecimal.
func sumOf(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // only read
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}

package git

import (
	"bufio"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// standInForLFS does what git-lfs does with the arguments, as far as this package
// calls it, and with a remote that is a folder. It lets the tests run where
// git-lfs is not installed; REPRISE_TEST_GIT_LFS names a real one to take instead.
func standInForLFS(args []string) {
	if err := standIn(args); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}

func standIn(args []string) error {
	if args[0] == "version" {
		return nil
	}
	storage, err := setTo("lfs.storage")
	if err != nil {
		return err
	}
	switch args[0] {
	case "filter-process":
		return standInFilter(storage, len(args) > 1)
	case "fetch":
		from, err := setTo("remote." + args[1] + ".url")
		if err != nil {
			return err
		}
		if _, err := os.Stat(from); err != nil {
			return err
		}
		names, _ := filepath.Glob(filepath.Join(from, "lfs/objects/*/*/*"))
		for _, name := range names {
			if err := standInCopy(name, largeFile(storage, filepath.Base(name))); err != nil {
				return err
			}
		}
		return nil
	case "push":
		to, err := setTo("remote." + args[2] + ".pushurl")
		if err != nil {
			return err
		}
		for _, oid := range args[3:] {
			if err := standInCopy(largeFile(storage, oid), largeFile(filepath.Join(to, "lfs"), oid)); err != nil {
				return err
			}
		}
		return nil
	}
	return fmt.Errorf("git-lfs %q", args)
}

func setTo(key string) (string, error) {
	out, err := exec.Command("git", "config", key).Output()
	return strings.TrimSpace(string(out)), err
}

func standInCopy(from, to string) error {
	data, err := os.ReadFile(from)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(to), 0o755)
	}
	if err == nil {
		err = os.WriteFile(to, data, 0o644)
	}
	return err
}

// standInFilter speaks the protocol of gitattributes(5) for filters that stay.
func standInFilter(storage string, skip bool) error {
	in := bufio.NewReader(os.Stdin)
	say := func(packets ...string) {
		for _, p := range packets {
			fmt.Printf("%04x%s", len(p)+4, p)
		}
		fmt.Print("0000")
	}
	for _, answer := range [][]string{{"git-filter-server\n", "version=2\n"}, {"capability=clean\n", "capability=smudge\n"}} {
		if _, err := packets(in); err != nil {
			return err
		}
		say(answer...)
	}
	for {
		asked, err := packets(in)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		body, err := packets(in)
		if err != nil {
			return err
		}
		convert := standInClean
		if asked[0] == "command=smudge\n" {
			convert = standInSmudge
		}
		data := strings.Join(body, "")
		excluded, _ := setTo("lfs.fetchexclude")
		if out, _ := path.Match(excluded, strings.TrimSpace(strings.TrimPrefix(asked[1], "pathname="))); out {
			skip = true
		}
		if asked[0] == "command=clean\n" || !skip {
			if data, err = convert(storage, data); err != nil {
				return err
			}
		}
		say("status=success\n")
		var parts []string
		for part := range slices.Chunk([]byte(data), 65000) {
			parts = append(parts, string(part))
		}
		say(parts...)
		say()
	}
}

func standInClean(storage, data string) (string, error) {
	if _, is := parsePointer([]byte(data)); is {
		return data, nil
	}
	oid := fmt.Sprintf("%x", sha256.Sum256([]byte(data)))
	err := os.MkdirAll(filepath.Dir(largeFile(storage, oid)), 0o755)
	if err == nil {
		err = os.WriteFile(largeFile(storage, oid), []byte(data), 0o644)
	}
	return fmt.Sprintf("version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize %d\n", oid, len(data)), err
}

func standInSmudge(storage, data string) (string, error) {
	p, is := parsePointer([]byte(data))
	if !is {
		return data, nil
	}
	alternates, err := os.ReadFile(filepath.Join(os.Getenv("GIT_DIR"), "objects/info/alternates"))
	if err != nil {
		return "", err
	}
	places := []string{storage}
	for objects := range strings.Lines(string(alternates)) {
		places = append(places, filepath.Join(filepath.Dir(objects), "lfs"))
	}
	for _, place := range places {
		content, err := os.ReadFile(largeFile(place, p.oid))
		if err == nil {
			return string(content), standInCopy(largeFile(place, p.oid), largeFile(storage, p.oid))
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	return data, nil
}

// packets reads packets up to one that is empty.
func packets(in *bufio.Reader) ([]string, error) {
	var all []string
	for {
		head := make([]byte, 4)
		if _, err := io.ReadFull(in, head); err != nil {
			return all, err
		}
		n, err := strconv.ParseInt(string(head), 16, 32)
		if err != nil || n == 0 {
			return all, err
		}
		body := make([]byte, n-4)
		if _, err := io.ReadFull(in, body); err != nil {
			return all, err
		}
		all = append(all, string(body))
	}
}

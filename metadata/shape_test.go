package metadata

import (
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"
)

func TestCheckID(t *testing.T) {
	for id, ok := range map[string]bool{
		"7": true, "add-hello": true, "a.b_c-d": true, "test_scenario": true, strings.Repeat("a", 64): true,
		"": false, "A": false, "-x": false, ".x": false, "a/b": false, "a b": false, "a\n": false, "é": false,
		"..": false, "a\x00": false, strings.Repeat("a", 65): false,
	} {
		if err := CheckID(id); (err == nil) != ok {
			t.Errorf("%q: %v", id, err)
		}
	}
}

func TestCheckPath(t *testing.T) {
	for path, ok := range map[string]bool{
		"a": true, "a/b.md": true, ".reprise/issue-7/00_planning/planning.md": true, "..a/...": true, "a b/漢字": true, "-x": true,
		"": false, ".": false, "..": false, "../a": false, "a/../b": false, "a/..": false, "./a": false, "a/": false, "a//b": false,
		"a\xff": false, ".git": false, "a/.GIT/config": false, ".git./x": false, ".git /x": false, "sub/GIT~1/config": false, ".g\u200cit/config": false,
		".git::$INDEX_ALLOCATION/config": false, ".gitignore": true, "git": true, ".github/x": true, "git~10": true, "...": true,
		"/": false, "/etc/passwd": false, `C:\x`: false, "c:/x": false, `\\server\x`: false, `a\b`: false, "a\nb": false, "a\x00": false,
	} {
		if err := CheckPath(path); (err == nil) != ok {
			t.Errorf("%q: %v", path, err)
		}
	}
}

func TestCheckNewPath(t *testing.T) {
	for path, ok := range map[string]bool{
		"a": true, "a/b.md": true, ".hidden": true, "console.log": true, "auxiliary": true, "com": true, "com10": true, "nulls/x": true,
		"ab:c": true, "漢字.md": true, "[id].tsx": true, "lpt": true,
		"..": false, ".git/x": false, "a.": false, "a /b": false, "dir./x": false, "...": false,
		"aux": false, "AUX.c": false, "a/nul.tar.gz": false, "Con": false, "com1": false, "lpt9.txt": false, "com¹": false, "conout$": false, "nul .x": false, "why?": false, "a/*.go": false,
	} {
		if err := CheckNewPath(path); (err == nil) != ok {
			t.Errorf("%q: %v", path, err)
		}
	}
}

func TestCheckURL(t *testing.T) {
	for link, ok := range map[string]bool{
		"https://github.com/octo/hello/issues/7#issuecomment-1": true, "http://localhost:3000/x": true, "https://h": true,
		"https://h/@me?a=b&tab=c@d": true, "https://h?x": true, "https://[::1]:8080/": true,

		"": false, "github.com/x": false, "ftp://h/x": false, "https://": false, "https:///x": false, "https://?x": false,
		"HTTPS://h": false, "javascript://h": false, "https://h/a b": false, "https://h/\n": false, `https://h\@evil`: false,
		"https://hunter2@h/x": false, "https://user:hunter2@h": false, "https://h/x?access_token=hunter2": false,
		"https://h/x?a=b&X-Amz-Signature=hunter2#f": false, "https://h?a;%74oken=hunter2": false, "https://h?private_token=hunter2": false,
	} {
		err := CheckURL(link)
		if (err == nil) != ok {
			t.Errorf("%q: %v", link, err)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: the error repeats the secret: %v", link, err)
		}
	}
}

func TestCheckBranchIsWhatGitTakes(t *testing.T) {
	names := []string{
		"main", "reprise/issue-7", "a/b/c", "a.b", "a-b", "a@b", "@a", "a{b", "漢字", "a.lock.b", "heads", "a/@", "HEAD/x", "x/HEAD", "head",
		"", "-x", "--upload-pack=touch x", "HEAD", "a b", "a..b", "a.", "a./b", ".a", "a/.b", "a/", "/a", "a//b", "a.lock", "a.lock/b",
		"a~1", "a^", "a:b", "a?", "a*", "a[", `a\b`, "a@{b", "@{-1}", "a\tb", "a\x7f", "a\nb", "refs/heads/a", "a/-b",
	}
	random := rand.New(rand.NewPCG(1, 2))
	const letters = "aab/.-@{~^: *[\\\x01\x7f?kloc"
	for range 150 {
		name := make([]byte, 1+random.IntN(6))
		for i := range name {
			name[i] = letters[random.IntN(len(letters))]
		}
		if string(name) != "@" {
			names = append(names, string(name))
		}
	}
	dir := t.TempDir() // no repository, so that @{-1} has no meaning
	for _, name := range names {
		cmd := exec.Command("git", "check-ref-format", "--branch", name)
		cmd.Dir = dir
		git, our := cmd.Run(), CheckBranch(name)
		if (git == nil) != (our == nil) {
			t.Errorf("%q: git says %v, CheckBranch says %v", name, git, our)
		}
	}
	if err := exec.Command("git", "check-ref-format", "--branch", "main").Run(); err != nil {
		t.Errorf("git cannot be asked: %v", err)
	}
	for _, name := range []string{strings.Repeat("a", 201), "a\xff", "@"} {
		if CheckBranch(name) == nil {
			t.Errorf("%q is taken", name)
		}
	}
}

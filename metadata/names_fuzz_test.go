package metadata

import (
	"io/fs"
	"path"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// FuzzNames reads names that become paths, branches and addresses. What is
// taken stays inside the repository, is no option of git, and says what it says
// to everybody.
func FuzzNames(f *testing.F) {
	for _, s := range []string{
		"", "a/b.md", "../x", "/etc/passwd", `C:\x`, "c:/x", "-x", "--upload-pack=touch x", "a\nb", "a//b", "a/./b", "a/..", "..a", ".git/config", "reprise/issue-7", "HEAD", "@", "@{-1}",
		"a..b", "x.lock", "a/x.lock/b", "refs/heads/x", "a b", "a\u202eb", "a\u2028b", "a\x7f", "\xff", "日本語", "a~1", "a^{}", "a:b", "https://user:pass@h/x", "https://h/x?token=y", "javascript:x", "https://h/\u200b",
		"octo/hello", "octo/hello/x", "octo/..", "./x", strings.Repeat("a/", 300) + "b",
	} {
		f.Add(s)
	}
	ref := regexp.MustCompile(`^[^\x00-\x20\x7f~^:?*\[\\]+$`)
	f.Fuzz(func(t *testing.T, s string) {
		if CheckPath(s) == nil && (!fs.ValidPath(s) && utf8.ValidString(s) || path.IsAbs(s) || path.Clean(s) != s || s == "." || strings.HasPrefix(s, "..") && (len(s) == 2 || s[2] == '/') || strings.Contains(s, `\`)) {
			t.Errorf("path %q", s)
		}
		for part := range strings.SplitSeq(s, "/") {
			if CheckPath(s) == nil && strings.EqualFold(strings.TrimRight(part, ". "), ".git") {
				t.Errorf("path %q leads into git's own folder", s)
			}
		}
		if CheckBranch(s) == nil {
			if s[0] == '-' || !ref.MatchString(s) || !utf8.ValidString(s) || strings.Contains(s, "..") || strings.Contains(s, "@{") || len(s) > 200 {
				t.Errorf("branch %q", s)
			}
			for part := range strings.SplitSeq(s, "/") {
				if part == "" || part[0] == '.' || strings.HasSuffix(part, ".lock") {
					t.Errorf("branch %q has the part %q", s, part)
				}
			}
		}
		for what, err := range map[string]error{"path": CheckPath(s), "branch": CheckBranch(s), "link": CheckURL(s)} {
			if err == nil && strings.ContainsFunc(s, unicode.IsControl) {
				t.Errorf("%s %q has a control character", what, s)
			}
			if err != nil && strings.ContainsAny(err.Error(), "\n\r") {
				t.Errorf("%s: not one line: %v", what, err)
			}
		}
		if CheckURL(s) != nil {
			return
		}
		_, host, _ := strings.Cut(s, "://")
		host = host[:strings.IndexAny(host+"/", "/?#")]
		if !strings.HasPrefix(s, "http") || strings.ContainsAny(s, " \\") || host == "" || strings.ContainsAny(host, "<>\"`|@") {
			t.Errorf("link %q", s)
		}
	})
}

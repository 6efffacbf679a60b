package github

import (
	"encoding/base64"
	"testing"
)

func TestPut(t *testing.T) {
	b := bare(onDisk(t, map[string]string{"a.md": "a\n"}))
	first := b.ref("refs/heads/main")
	if err := b.put("main", "docs/a.md", "a word", base64.StdEncoding.EncodeToString([]byte("hello\n"))); err != nil {
		t.Fatal(err)
	}
	second := b.ref("refs/heads/main")
	if second == first || second == "" || !b.ahead(second, first) || b.ahead(first, second) {
		t.Errorf("main was at %s and is at %s", first, second)
	}
	if _, kind, data, found := b.object("main:docs/a.md"); !found || kind != "blob" || string(data) != "hello\n" {
		t.Errorf("%v %s %q", found, kind, data)
	}
	if _, _, _, found := b.object("main:docs/b.md"); found {
		t.Error("there is a file that nobody made")
	}
	if err := b.put("nowhere", "a.md", "a word", ""); err == nil {
		t.Error("a file came to a branch that is not there")
	}
	if _, err := b.git("pack-refs", "--all"); err != nil || b.ref("refs/heads/main") != second {
		t.Errorf("packed, main is at %q (%v)", b.ref("refs/heads/main"), err)
	}
	if got := bare("").ref("refs/heads/main"); got != "" {
		t.Errorf("no repository has %s", got)
	}
}

// A ref is made once, and of a commit that is there.
func TestCreateRef(t *testing.T) {
	s := people(t)
	s.Bare("acme/widget", onDisk(t, map[string]string{"a.md": "a\n"}))
	at := asks(t, s, "ann", "GET", repo+"/git/ref/heads/main", nil, 200)["object"].(object)["sha"]
	asks(t, s, "write", "POST", repo+"/git/refs", object{"ref": "refs/heads/side", "sha": at}, 201)
	asks(t, s, "write", "POST", repo+"/git/refs", object{"ref": "refs/heads/side", "sha": at}, 422)
	if got := asks(t, s, "ann", "GET", repo+"/git/ref/heads/side", nil, 200)["object"].(object)["sha"]; got != at {
		t.Errorf("side is at %v", got)
	}
}

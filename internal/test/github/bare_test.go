package github

import "testing"

func TestObjects(t *testing.T) {
	b := bare(onDisk(t, map[string]string{"docs/a.md": "hello\n"}))
	first := b.ref("refs/heads/main")
	if _, kind, data, found := b.object("main:docs/a.md"); !found || kind != "blob" || string(data) != "hello\n" {
		t.Errorf("%v %s %q", found, kind, data)
	}
	if _, _, _, found := b.object("main:docs/b.md"); found {
		t.Error("there is a file that nobody made")
	}
	second, err := b.git("-c", "user.name=M", "-c", "user.email=m@example.com", "commit-tree", "-p", first, "-m", "more", "main^{tree}")
	if err != nil || !b.ahead(second, first) || b.ahead(first, second) {
		t.Errorf("after %s comes %s (%v)", first, second, err)
	}
	if _, err := b.git("pack-refs", "--all"); err != nil || b.ref("refs/heads/main") != first {
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

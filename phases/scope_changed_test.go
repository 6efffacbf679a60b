package phases

import (
	"slices"
	"testing"
)

// Every file is named as it is, whatever its name looks like, and one that was moved by
// both of its names.
func TestChanged(t *testing.T) {
	patch := "diff --git a/main.go b/main.go\nindex 1..2 100644\n--- a/main.go\n+++ b/main.go\n@@ -1 +1 @@\n-diff --git a/x b/x\n+rename from y\n rename to z\n" +
		"diff --git a/auth b/docs/x.md b/auth b/docs/x.md\nnew file mode 100644\n" +
		"diff --git \"a/caf\\303\\251 \\\"1\\\".md\" \"b/caf\\303\\251 \\\"1\\\".md\"\nnew file mode 100644\n" +
		"diff --git a/auth/login.go b/docs/login.go\nsimilarity index 100%\nrename from auth/login.go\nrename to docs/login.go\n" +
		"diff --git a/m b/m b/m b/m\nsimilarity index 100%\nrename from m\nrename to m b/m b/m\n" +
		"diff --git a/last b/last\nold mode 100644\nnew mode 100755\n"
	names, files := ChangedInPatch(patch)
	want := []string{"main.go", "auth b/docs/x.md", "café \"1\".md", "auth/login.go", "docs/login.go", "m", "m b/m b/m", "last"}
	if !slices.Equal(names, want) || files != 6 {
		t.Errorf("%d changes of %q, want 6 of %q", files, names, want)
	}
	if names, files := ChangedInPatch("diff --git a/x b/yy\n"); len(names)+files > 0 {
		t.Errorf("%d changes of %q where nothing is said", files, names)
	}
}

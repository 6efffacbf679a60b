package source

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// TestMistakes holds what is said about bad pipelines against the files in
// testdata/mistakes: pipelines, the first of which is evaluated and the others
// are what it builds on or imports, and the exact lines in "want".
func TestMistakes(t *testing.T) {
	names, err := filepath.Glob("testdata/mistakes/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatalf("no test files: %v", err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(name)
			testenv.Must(t, err)
			var files, packages []file
			want := -1
			for i, f := range archive.Files {
				switch folder := filepath.Dir(f.Name); {
				case f.Name == "want":
					want = i
				case strings.HasPrefix(folder, vendorPath+"/"):
					packages = append(packages, file{Name: f.Name, Text: string(f.Data)})
				default:
					files = append(files, file{Name: f.Name, Text: string(f.Data)})
				}
			}
			if want < 0 {
				t.Fatal("no file called want")
			}
			got := ""
			if _, err := evaluate(request{Files: files, Packages: packages}); err != nil {
				got = err.Error() + "\n"
			}
			if *testenv.Update {
				archive.Files[want].Data = []byte(got)
				testenv.Put(t, name, string(txtar.Format(archive)))
			}
			if diff := cmp.Diff(string(archive.Files[want].Data), got); diff != "" {
				t.Errorf("mistakes (-want +got):\n%s", diff)
			}
		})
	}
}

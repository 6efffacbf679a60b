package progresstest

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// Texts gives every text of a language by the key that package prompts has for it, to a test in
// a folder two below the top.
func Texts(t testing.TB, language string) map[string]string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "prompts", "words", language+".json"))
	testenv.Must(t, err)
	var file map[string]any
	testenv.Must(t, json.Unmarshal(data, &file))
	return flat("", file)
}

func flat(path string, group map[string]any) map[string]string {
	texts := map[string]string{}
	for name, v := range group {
		switch v := v.(type) {
		case string:
			texts[path+name] = v
		case map[string]any:
			below := path + name + "."
			if name == "forms" || path == "reasons." || path == "show." {
				below = path
			}
			maps.Copy(texts, flat(below, v))
		}
	}
	return texts
}

package progresstest

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"testing"
)

// Texts gives every text of a language by the key that package prompts has for it, to a test in
// a folder two below the top.
func Texts(t testing.TB, language string) map[string]string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "prompts", "words", language+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var file map[string]any
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
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

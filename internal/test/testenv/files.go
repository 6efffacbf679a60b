package testenv

import (
	"os"
	"path/filepath"
)

// PutText writes a text into a file, and makes the folders that it needs.
func PutText(file, text string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(text), 0o644)
}

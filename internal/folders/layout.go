package folders

import (
	"errors"
	"io"
	"os"
	"strings"
)

// File is a file to be in a folder: a text, or a copy of another file, which is left
// out where that one is not there.
type File struct{ Name, Text, From string }

// Layout is all that a folder is to hold.
type Layout struct {
	Folders []string // with ".", the folder itself
	Files   []File
}

// Write makes the file, which must not be there yet.
func (f File) Write(root *os.Root, to string) error {
	in := io.Reader(strings.NewReader(f.Text))
	if f.From != "" {
		from, err := os.Open(f.From)
		if err != nil {
			return err
		}
		defer func() { _ = from.Close() }() // opened for reading
		in = from
	}
	out, err := root.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

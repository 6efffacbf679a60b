package folders

import (
	"archive/zip"
	"bytes"
	"io/fs"
)

// InMemory makes a file system of files, given their names and what they hold. An
// archive in memory is the one that the standard library has.
func InMemory(names []string, data [][]byte) (fs.FS, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i, name := range names {
		f, err := w.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
		if err == nil {
			_, err = f.Write(data[i])
		}
		if err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
}

package git

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
)

// FS returns a folder as it is in a commit, which is given as in ReadFile.
// Only regular files are in it: a symbolic link of a repository leads nowhere.
// It is nil where the commit has no such folder.
func (s *Source) FS(ctx context.Context, ref, dir string) (fs.FS, error) {
	commit, err := s.resolve(ctx, ref)
	if err != nil {
		return nil, err
	}
	files, err := below(ctx, s.lookUp, commit, dir)
	if err != nil {
		return nil, fmt.Errorf("list %s in %s: %w", dir, ref, err)
	}
	var names, blobs []string
	for _, p := range slices.Sorted(maps.Keys(files)) {
		if strings.HasPrefix(files[p].mode, "100") {
			names, blobs = append(names, strings.TrimPrefix(p, dir+"/")), append(blobs, files[p].id)
		}
	}
	if len(names) == 0 {
		return nil, nil
	}
	objects, err := s.lookUp(ctx, blobs...)
	if err != nil {
		return nil, fmt.Errorf("read %s in %s: %w", dir, ref, err)
	}
	return inMemory(names, objects)
}

// inMemory makes a file system of files. An archive in memory is the one that
// the standard library has.
func inMemory(names []string, objects []object) (fs.FS, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i, name := range names {
		f, err := w.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
		if err == nil {
			_, err = f.Write(objects[i].data)
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

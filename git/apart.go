package git

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// apart makes a git directory for a while, with nothing in it but where the
// user's history is cut and what is checked out. What runs there reads no
// configuration of the user's repository.
func (s *Source) apart() (dir string, remove func(), err error) {
	if dir, err = os.MkdirTemp("", "reprise-git-"); err != nil {
		return "", nil, err
	}
	remove = func() { _ = os.RemoveAll(dir) } // a temporary folder; the system removes what is left
	files := map[string]string{
		"HEAD": "ref: refs/heads/none\n", "config": s.basics(), "refs/reprise/head": s.Head + "\n",
		"objects/info/alternates": s.objects() + "\n",
	}
	cuts, err := os.ReadFile(filepath.Join(s.CommonDir, "shallow"))
	if err == nil {
		files["shallow"] = string(cuts)
	} else if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	for name, text := range files {
		name = filepath.Join(dir, name)
		err = errors.Join(err, os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644))
	}
	if err != nil {
		remove()
		return "", nil, err
	}
	return dir, remove, nil
}

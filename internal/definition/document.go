package definition

import (
	"errors"
	"os"

	"github.com/reprise-ci/reprise/internal/folders"
)

// DocumentIn reads a document of people as it lies in a repository: an ordinary file, in
// folders. A link could lead to what nobody means to hand on, such as the settings of git.
func DocumentIn(repository, name string) ([]byte, error) {
	root, err := os.OpenRoot(repository)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // opened for reading
	if _, err := root.Lstat(name); err != nil {
		return nil, err
	}
	if folders.Beyond(root, name) {
		return nil, errors.New("it lies behind a symbolic link; name the file itself")
	}
	data, err := folders.ReadFile(root, name, MostDocument)
	if errors.Is(err, folders.ErrNoFile) {
		return nil, errors.New("it is no file, or a symbolic link to one; name the file itself")
	}
	return data, err
}

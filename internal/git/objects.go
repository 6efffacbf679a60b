package git

import (
	"context"
	"fmt"
)

// entry is a file in a commit.
type entry struct {
	mode string // as git writes it, such as 100644
	id   string // of the blob
}

// below gives the files of a folder of a commit, by their path from the top of
// the repository: none if there is no such folder. commit is a full hash.
func below(ctx context.Context, ask asker, commit, of string) (map[string]entry, error) {
	files := map[string]entry{}
	type dir struct{ name, path string }
	for todo := []dir{{commit + ":" + of, of}}; len(todo) > 0; todo = todo[1:] {
		found, err := ask(ctx, todo[0].name)
		if err != nil {
			return nil, err
		}
		if found[0].Kind != "tree" {
			continue
		}
		inside, err := folderEntries(found[0].Data, len(commit)/2)
		if err != nil {
			return nil, fmt.Errorf("%s %w", todo[0].path, err)
		}
		for _, e := range inside {
			if p := todo[0].path + "/" + e.Name; e.Mode == folderMode {
				todo = append(todo, dir{e.ID, p})
			} else {
				files[p] = entry{mode: plainMode(e.Mode), id: e.ID}
			}
		}
	}
	return files, nil
}

// KeptRefs begin the names under which the records of runs are kept.
const KeptRefs = "refs/reprise/records/"

// shelves finds a folder of commits of s. Git runs by log, in the place of the objects.
func shelvesOf(s *Source, ask asker, log func(ctx context.Context, args ...string) ([]byte, error), folder string) shelves {
	commit := func(ctx context.Context, commit string) (string, error) {
		found, err := ask(ctx, commit)
		if err != nil || found[0].Kind != "commit" {
			return "", err
		}
		return string(found[0].Data), nil
	}
	if s.Shallow || len(s.promisors) > 0 { // it is cut, or fetched one by one
		commit = nil
	}
	return shelves{
		Object: commit,
		Has: func(ctx context.Context, commit string) (bool, error) {
			found, err := ask(ctx, commit+":"+folder)
			return err == nil && found[0].Kind == "tree", err
		},
		Messages: func(ctx context.Context, commit string) ([]shelfMessage, error) {
			out, err := log(ctx, shelfArgs(commit)...)
			return parseShelf(out), err
		},
	}
}

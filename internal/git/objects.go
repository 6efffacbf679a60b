package git

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

// entry is a file in a commit.
type entry struct {
	mode string // as git writes it, such as 100644
	id   string // of the blob
}

func isHash(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}

func oneLine(name string) error {
	if strings.ContainsAny(name, "\n\x00") {
		return fmt.Errorf("%q holds a line break or a zero byte, no name in git does", name)
	}
	return nil
}

// asker gives the objects of names, one for each.
type asker func(ctx context.Context, names ...string) ([]object, error)

// readFile reads a file as it is in the first of the refs that has it.
func readFile(ctx context.Context, ask asker, refs []string, ref, path string) ([]byte, error) {
	for _, c := range refs {
		found, err := ask(ctx, c+":"+path)
		if err != nil {
			return nil, fmt.Errorf("read %s at %s: %w", path, ref, err)
		}
		switch found[0].kind {
		case "":
		case "blob":
			return found[0].data, nil
		default:
			return nil, fmt.Errorf("read %s at %s: is a folder, not a file", path, ref)
		}
	}
	return nil, fmt.Errorf("read %s at %s: %w", path, ref, fs.ErrNotExist)
}

// below gives the files of a folder of a commit, by their path from the top of
// the repository: none if there is no such folder. commit is a full hash.
func below(ctx context.Context, ask asker, commit, dir string) (map[string]entry, error) {
	files := map[string]entry{}
	type folder struct{ name, path string }
	for todo := []folder{{commit + ":" + dir, dir}}; len(todo) > 0; todo = todo[1:] {
		found, err := ask(ctx, todo[0].name)
		if err != nil {
			return nil, err
		}
		if found[0].kind != "tree" {
			continue
		}
		for rest := found[0].data; len(rest) > 0; {
			info, after, _ := bytes.Cut(rest, []byte{0})
			mode, name, ok := strings.Cut(string(info), " ")
			if !ok || len(after) < len(commit)/2 {
				return nil, fmt.Errorf("%s is no folder that git could have written", todo[0].path)
			}
			id := hex.EncodeToString(after[:len(commit)/2])
			rest = after[len(commit)/2:]
			if p := todo[0].path + "/" + name; mode == "40000" {
				todo = append(todo, folder{id, p})
			} else {
				files[p] = entry{mode: plainMode(mode), id: id}
			}
		}
	}
	return files, nil
}

// plainMode gives a mode as git does today: old ones of files say more.
func plainMode(mode string) string {
	if bits, err := strconv.ParseUint(mode, 8, 32); err == nil && strings.HasPrefix(mode, "100") {
		if bits&0o100 != 0 {
			return "100755"
		}
		return "100644"
	}
	return mode
}

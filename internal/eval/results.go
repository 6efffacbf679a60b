package eval

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/renameio/v2"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/folders"
	"github.com/reprise-ci/reprise/internal/workspace"
)

// results are what is known of a suite so far: a file for each trial that is over, and
// for each case that was looked at before the work.
type results struct {
	dir  string
	lock *os.File
}

// resultsFolder gives the folder of the results of a suite, unless one is named: beside
// the runs on this machine, by the path of the suite.
func resultsFolder(env environ.Env, suite string) (string, error) {
	base, err := workspace.HomeBase(env)
	if err != nil {
		return "", fmt.Errorf("there is no folder for results: %w; name one with --results", err)
	}
	full, err := filepath.Abs(suite)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(full))
	return filepath.Join(base, "eval", filepath.Base(full)+"-"+hex.EncodeToString(sum[:4])), nil
}

// openResults takes the folder for this process alone.
func openResults(ctx context.Context, dir string) (*results, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	file, err := folders.TakeLock(ctx, dir)
	if held := (*folders.Held)(nil); errors.As(err, &held) {
		return nil, fmt.Errorf("%s: another evaluation is at work there (process %d): wait for it, or name another folder with --results", dir, held.PID)
	}
	return &results{dir, file}, err
}

func (r *results) close() error { return folders.FreeLock(r.lock) }

// forget removes all that is known.
func (r *results) forget() error {
	var failed []error
	for _, part := range []string{"trials", "cases", "work", "homes"} {
		failed = append(failed, folders.RemoveAll(filepath.Join(r.dir, part)))
	}
	return errors.Join(failed...)
}

func (r *results) file(t Trial) string {
	return filepath.Join(r.dir, "trials", t.Variant, t.Case, fmt.Sprintf("%d.json", t.Run))
}

// load gives the result of a trial, if it is over and was of the same key.
func (r *results) load(t Trial, key string) (Result, bool, error) {
	var out Result
	data, err := os.ReadFile(r.file(t))
	if errors.Is(err, fs.ErrNotExist) {
		return out, false, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &out)
	}
	if err != nil {
		return out, false, fmt.Errorf("%s: %w; remove it to have the trial anew", r.file(t), err)
	}
	return out, out.Key == key && out.Trial == t, nil
}

func (r *results) save(out Result) error {
	data, err := json.MarshalIndent(out, "", "  ")
	if err != nil {
		return err
	}
	return writeWhole(r.file(out.Trial), append(data, '\n'))
}

// writeWhole writes a file as a whole, or not at all, and the folders above it.
func writeWhole(file string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return renameio.WriteFile(file, data, 0o644)
}

// looked reports whether a case of this key was looked at before and found good.
func (r *results) looked(c Case, key string) bool {
	data, err := os.ReadFile(filepath.Join(r.dir, "cases", c.Name))
	return err == nil && strings.TrimSpace(string(data)) == key
}

// key is a digest of all that a case is made from.
func (c Case) key(ctx context.Context, environ []string) (string, error) {
	sum := sha256.New()
	for _, name := range []string{c.dir, c.Repo, c.Issue, c.Hidden, c.Stubs} {
		err, commit := error(nil), c.Commit
		switch _, missing := os.Stat(name); {
		case missing != nil: // such as the issue of a case that is a review
			continue
		case !isRepository(name):
			err = addFiles(sum, name)
		case commit == "":
			commit, err = repository{dir: name, environ: environ}.git(ctx, "rev-parse", "HEAD")
		}
		if err != nil {
			return "", err
		}
		_, _ = fmt.Fprintf(sum, "%s %s\n", filepath.Base(name), commit) // a hash takes all
	}
	if c.of != "" {
		_, _ = fmt.Fprintf(sum, "review %v\n", c.Mutation) // a hash takes all
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// key is a digest of all that a variant is made from, by this version of reprise.
func (v Variant) key() (string, error) {
	sum := sha256.New()
	data, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	_, _ = fmt.Fprintf(sum, "%s %s\n", environ.VersionText(), data) // a hash takes all
	for _, name := range []string{v.Pipeline, v.Prompts} {
		if filepath.IsAbs(name) {
			if err := addFiles(sum, name); err != nil {
				return "", err
			}
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// addFiles adds a file, or all files of a folder, with their names.
func addFiles(sum hash.Hash, top string) error {
	return filepath.WalkDir(top, func(file string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && e.Name() == ".git":
			return filepath.SkipDir
		case !e.Type().IsRegular():
			return nil
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(top, file)
		_, _ = fmt.Fprintf(sum, "%q %d\n", name, len(data)) // a hash takes all
		_, _ = sum.Write(data)
		return err
	})
}

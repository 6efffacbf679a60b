package workspace

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/metadata/store"
	"github.com/reprise-ci/reprise/phases"
)

// Base gives the folder for all that reprise keeps on this machine: REPRISE_HOME or, if that
// is not set, one in the user's folder of caches.
func HomeBase(env environ.Env) (string, error) {
	if base := env.Getenv("REPRISE_HOME"); base != "" {
		return base, nil
	}
	cache, err := os.UserCacheDir()
	return filepath.Join(cache, "reprise"), err
}

// Folder gives the folder where a run lives on this machine. It is outside
// the repository: many tools pass over what lies below ".git".
func HomeFolder(env environ.Env, src *git.Source, id string) (string, error) {
	base, err := HomeBase(env)
	if err != nil {
		return "", fmt.Errorf("there is no folder to work in: %w; name one in REPRISE_HOME", err)
	}
	sum := sha256.Sum256([]byte(src.CommonDir))
	return filepath.Join(base, filepath.Base(src.Dir)+"-"+hex.EncodeToString(sum[:4]), id), nil
}

// RecordFolder is where the record of a run is kept between two commits: beside the work, in
// its tree.
func RecordFolder(tree, id string) store.Folder {
	return store.Folder{Dir: filepath.Join(tree, filepath.FromSlash(phases.Folder(id))), Within: tree}
}

// Saved gives the record in the folder of a run; nil if none is there that can be read.
func SavedRun(folder, id string) *metadata.Run {
	run, err := RecordFolder(filepath.Join(folder, "tree"), id).Load()
	if err != nil {
		return nil
	}
	return &run
}

// KeptRef is the full name by which the record of a run is kept.
func KeptRef(id string) string { return git.KeptRefs + phases.RecordName(id) }

// ReadOf gives how files of a run's folder are read from a branch or a commit, also
// where the folder was taken off it.
func RecordReader(ctx context.Context, src *git.Source, ref, id string) func(name string) ([]byte, error) {
	return func(name string) ([]byte, error) { return src.ReadKept(ctx, ref, phases.Folder(id), name) }
}

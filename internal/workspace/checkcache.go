package workspace

import (
	"encoding/json"
	"os"
	"path/filepath"
	"sync"

	"github.com/reprise-ci/reprise/metadata"
)

// Cache is a file of results beside a work tree, where no agent can write in its sandbox.
type Cache struct {
	file string
	lock sync.Mutex
	all  map[string]metadata.CheckResult // nil: not read yet
}

// mostResults is how many are kept: those of many rounds.
const mostResults = 500

// Beside gives the cache of a tree. Its file is read when the first result is asked for.
func Beside(tree string) *Cache {
	return &Cache{file: filepath.Join(filepath.Dir(tree), "checks.json")}
}

// Get gives what is kept under a key.
func (r *Cache) Get(key string) (metadata.CheckResult, bool) {
	r.lock.Lock()
	defer r.lock.Unlock()
	if r.all == nil {
		r.all = map[string]metadata.CheckResult{}
		if data, err := os.ReadFile(r.file); err == nil && json.Unmarshal(data, &r.all) != nil {
			r.all = map[string]metadata.CheckResult{} // cut off, as by a kill: the checks run again
		}
	}
	found, known := r.all[key]
	return found, known
}

// Put keeps a result under a key that Get did not know. An error leaves what the file had,
// or less.
func (r *Cache) Put(key string, result metadata.CheckResult) error {
	r.lock.Lock()
	defer r.lock.Unlock()
	if len(r.all) >= mostResults {
		clear(r.all)
	}
	r.all[key] = result
	data, err := json.Marshal(r.all)
	if err != nil {
		return err
	}
	return os.WriteFile(r.file, data, 0o600)
}

//go:build e2e && linux

package e2e

import (
	"bufio"
	"bytes"
	endian "encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/reprise-ci/reprise/internal/agents"
	m "github.com/reprise-ci/reprise/internal/test/model"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/pipelines"
)

// The key is not in the memory of the program either, nor in that of anything it has
// started: looked at while the program waits for its model, after it has asked and
// been answered. The placeholder is found there by the same search.
func TestTheKeyIsInNoMemory(t *testing.T) {
	const key = "sk-ant-api03-a-key-that-is-nowhere-else"
	each(t, func(t *testing.T, use string) {
		p := newPlace(t)
		var found search
		first := true
		p.says(func(m.Request) m.Reply {
			if first {
				first = false
				return m.Run("true")
			}
			found = p.searchMemory(key)
			return m.Say("Done.")
		})
		environ := p.environ()
		for i := range environ {
			environ[i] = strings.Replace(environ[i], "_API_KEY="+theKey, "_API_KEY="+key, 1)
		}
		a, err := agents.For(use, pipelines.Agent{Use: use}, agents.Options{Environ: environ})
		testenv.Must(t, err)
		if r, err := a.Run(t.Context(), p.task(pipelines.AccessTree)); err != nil {
			t.Fatalf("%+v, %v", r, err)
		}
		t.Logf("%d MB were searched; %d processes have a placeholder; %q keep others out", found.bytes>>20, found.placeholders, found.closed)
		if len(found.withKey) > 0 {
			t.Errorf("the key is in the memory of %q", found.withKey)
		}
		if found.placeholders == 0 {
			t.Errorf("the placeholder is in no memory, so the search finds nothing: %+v", found)
		}
		testenv.Has(t, "what the model was shown", fmt.Sprint(p.model.Requests()[1].Header), key)
	})
}

// search is what was found in the memory of the processes of a place.
type search struct {
	withKey      []string // programs
	placeholders int      // processes that have one
	closed       []string // programs that keep others of their user from their memory
	bytes        int
}

// searchMemory looks for a key in the memory of all processes of a place. It ends the test
// when a memory cannot be read for another reason than its own program's.
func (p *place) searchMemory(key string) (s search) {
	all, _ := filepath.Glob("/proc/[0-9]*")
	wide := bytes.Join(bytes.Split([]byte(key), nil), []byte{0}) // as programs in JavaScript may keep it
	for _, dir := range all {
		environ, err := os.ReadFile(dir + "/environ")
		if err != nil || !bytes.Contains(environ, []byte("HOME="+p.home+"\x00")) {
			continue // somebody else's, or over by now
		}
		line, _ := os.ReadFile(dir + "/cmdline")
		name := strings.ReplaceAll(strings.TrimRight(string(line[:min(len(line), 200)]), "\x00"), "\x00", " ")
		hasKey, hasOther := false, false
		err = eachPages(dir, func(data []byte) {
			s.bytes += len(data)
			hasKey = hasKey || bytes.Contains(data, []byte(key)) || bytes.Contains(data, wide)
			hasOther = hasOther || placeholder.Match(data)
		})
		switch {
		case errors.Is(err, fs.ErrPermission):
			s.closed = append(s.closed, name)
		case err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ESRCH): // it may have ended meanwhile
			p.t.Errorf("%s: %v", name, err)
		}
		if hasKey {
			s.withKey = append(s.withKey, name)
		}
		if hasOther {
			s.placeholders++
		}
	}
	return s
}

// eachPages calls visit with the memory of a process: all that it may read itself and
// that is there, in pieces that overlap by what is looked for.
func eachPages(dir string, visit func([]byte)) error {
	maps, err := os.ReadFile(dir + "/maps")
	if err != nil {
		return err
	}
	memory, err := os.Open(dir + "/mem")
	if err != nil {
		return err
	}
	defer memory.Close()
	pages, err := os.Open(dir + "/pagemap")
	if err != nil {
		return err
	}
	defer pages.Close()
	lines := bufio.NewScanner(bytes.NewReader(maps))
	for lines.Scan() {
		var from, to int64
		var rights string
		if _, err := fmt.Sscanf(lines.Text(), "%x-%x %s", &from, &to, &rights); err != nil || rights[0] != 'r' || strings.HasSuffix(lines.Text(), "[vvar]") {
			continue
		}
		for _, run := range present(pages, from, to) {
			data := make([]byte, run[1]-run[0])
			n, _ := memory.ReadAt(data, run[0]) // what is gone by now is not there
			visit(data[:n])
		}
	}
	return nil
}

// present lists the parts of a range that are in memory or swapped out, of at most 16 MB
// each; each begins with the end of the one before it.
func present(pages *os.File, from, to int64) (runs [][2]int64) {
	const size, most, overlap = 4096, 16 << 20, 4096
	for at := from; at < to; {
		entries := make([]byte, min((to-at)/size, 1<<16)*8)
		n, err := pages.ReadAt(entries, at/size*8)
		if n < 8 {
			return runs
		}
		for i := range n / 8 {
			page := at + int64(i)*size
			if endian.LittleEndian.Uint64(entries[i*8:])>>62 == 0 {
				continue
			}
			if last := len(runs) - 1; last >= 0 && runs[last][1] == page {
				if runs[last][1]-runs[last][0] < most {
					runs[last][1] = page + size
					continue
				}
				runs = append(runs, [2]int64{page - overlap, page + size})
				continue
			}
			runs = append(runs, [2]int64{page, page + size})
		}
		if at += int64(n/8) * size; err != nil {
			return runs
		}
	}
	return slices.Clip(runs)
}

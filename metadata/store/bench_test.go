package store

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/reprise-ci/reprise/metadata"
)

func BenchmarkSave(b *testing.B) {
	for _, n := range []int{10, 10000} {
		r := long(sample(b), n)
		data, err := metadata.Format(r)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("store/%d", n), func(b *testing.B) {
			s := in(b.TempDir())
			for b.Loop() {
				if err := s.Save(r); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("least/%d", n), func(b *testing.B) {
			dir := b.TempDir()
			for b.Loop() {
				if err := leastSave(dir, data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// leastSave does what a durable save cannot do without, by hand.
func leastSave(dir string, data []byte) error {
	temp := filepath.Join(dir, "temp")
	f, err := os.Create(temp)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Write(data); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := os.Rename(temp, filepath.Join(dir, metadata.File)); err != nil {
		return err
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

// long is a valid run, rolled back n times.
func long(r metadata.Run, n int) metadata.Run {
	entry := r.RollbackHistory[0]
	r.RollbackHistory = nil
	for range n {
		r.RollbackHistory = append(r.RollbackHistory, entry)
	}
	return r
}

// sample is a record that has every field.
func sample(t testing.TB) metadata.Run {
	t.Helper()
	const file = "../testdata/version-4.json"
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	r, err := metadata.Parse(data, file)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

package main

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/secrets"
	"github.com/reprise-ci/reprise/internal/test/benchmark/bench"
)

// secretSearch measures how long it takes to look through texts, and that the time
// grows with them and not faster.
func secretSearch(b *bench.Bench) error {
	f := secrets.New(secrets.Secret{Name: "KEY", Value: "canary-0123456789abcdef"}, secrets.Secret{Name: "TOKEN", Value: "another/canary+9876543210"})
	if _, err := f.Find([]byte("read the rules")); err != nil {
		return err
	}
	for _, text := range [][2]string{
		{"code", "func (s *server) handle(w http.ResponseWriter, r *http.Request) error { return s.next.handle(w, r) }\n"},
		{"data in base64", "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==\n"},
		{"beginnings of a key", "sk-"},
		{"beginnings of values", "canary-0123456789abcde canary-0123456789abcdeg\n"},
	} {
		what, line := text[0], text[1]
		var took [2]time.Duration
		for i, size := range []int{1 << 20, 4 << 20} {
			text := []byte(strings.Repeat(line, size/len(line)+1)[:size])
			var err error
			if took[i], err = bench.Repeat(5, func() error { _, err := f.Find(text); return err }); err != nil {
				return fmt.Errorf("%s: %w", what, err)
			}
			if i == 0 {
				least, err := bench.Repeat(5, func() error { bytes.Contains(text, []byte("canary-0123456789abcdef")); return nil })
				if err != nil {
					return err
				}
				b.Times("1 MB looked through for secrets: "+what, took[0], max(least, time.Microsecond), "<= 200 ms", "bytes.Contains for one of them")
			}
		}
		b.Rows = append(b.Rows, bench.Row{Measure: "the same, 4 MB over 1 MB", Ours: fmt.Sprintf("%.2f", float64(took[1])/float64(took[0])), Least: "4.00", Ratio: fmt.Sprintf("%.2f", float64(took[1])/float64(took[0])/4), Target: "<= 5", How: "a cost that grows with the text"})
	}
	return nil
}

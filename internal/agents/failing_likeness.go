package agents

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"regexp"
)

// likeness is a digest of lines without what differs from one run to the next.
type likeness struct {
	digest    hash.Hash // nil: there is no line yet
	remaining int       // how many more bytes figures are taken out of
}

// mostLikened is of how many bytes figures are taken out. What comes after them has to be
// the same in all.
const mostLikened = 4 << 20

// figures are times, addresses, sizes, lines of files, and names that are drawn anew for
// each run. Others say something of the work, such as how many mistakes there are.
var figures = regexp.MustCompile(`0x[0-9a-f]+|\b(?:[0-9]+(?:\.[0-9]+)? ?(?:ns|µs|us|ms|s|m|h|sec|secs|seconds?|minutes?|B|kB|KB|KiB|MB|MiB|GB|bytes))+\b|` +
	`\b[0-9]{4}-[0-9]{2}-[0-9]{2}\b|\b[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]+)?|\b[0-9a-f]*[0-9][0-9a-f]*[0-9][0-9a-f]{6,}\b|\b[0-9]{6,}\b`)

// positions are lines of files.
var positions = regexp.MustCompile(`(\.\w+[:(]|\blines? )[0-9]+(?:[:,][0-9]+)?|(^\s*)[0-9]+:[0-9]+`)

func (l *likeness) add(line string) {
	if l.digest == nil {
		l.digest, l.remaining = sha256.New(), mostLikened
	}
	if l.remaining > 0 {
		l.remaining -= len(line)
		line = positions.ReplaceAllString(figures.ReplaceAllString(line, "#"), "$1$2#")
	}
	_, _ = l.digest.Write([]byte(line + "\n")) // never fails
}

func (l *likeness) text() string {
	if l.digest == nil {
		return ""
	}
	return hex.EncodeToString(l.digest.Sum(nil)[:16])
}

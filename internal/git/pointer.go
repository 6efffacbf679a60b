package git

import (
	"regexp"
	"strconv"
	"sync"
)

// pointer is what is committed in place of a file that Git LFS keeps.
type pointer struct {
	path string
	id   string // of the blob
	mode string
	was  string // mode in the tip

	oid  string // SHA-256 of the file
	size int64  // of the file, in bytes
}

// maxPointer is more than any pointer of Git LFS has, in bytes.
const maxPointer = 1024

var pointerForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?s)\Aversion https://git-lfs\.github\.com/spec/v1\n(?:.*\n)?oid sha256:([0-9a-f]{64})\nsize ([0-9]{1,18})\n`)
})

// parsePointer reads a pointer, if that is what text is.
func parsePointer(text []byte) (pointer, bool) {
	if len(text) > maxPointer {
		return pointer{}, false
	}
	m := pointerForm().FindSubmatch(text)
	if m == nil {
		return pointer{}, false
	}
	size, err := strconv.ParseInt(string(m[2]), 10, 64)
	return pointer{oid: string(m[1]), size: size}, err == nil
}

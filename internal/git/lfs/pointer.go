// Package lfs is the pointers that are committed in place of the files that Git LFS keeps,
// and where those files are.
package lfs

import (
	"regexp"
	"strconv"
	"sync"
)

// Pointer is what is committed in place of a file that Git LFS keeps.
type Pointer struct {
	Path string
	Id   string // of the blob
	Mode string
	Was  string // Mode in the tip

	Oid  string // SHA-256 of the file
	Size int64  // of the file, in bytes
}

// MaxPointer is more than any pointer of Git LFS has, in bytes.
const MaxPointer = 1024

var pointerForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?s)\Aversion https://git-lfs\.github\.com/spec/v1\n(?:.*\n)?oid sha256:([0-9a-f]{64})\nsize ([0-9]{1,18})\n`)
})

// ParsePointer reads a pointer, if that is what text is.
func ParsePointer(text []byte) (Pointer, bool) {
	if len(text) > MaxPointer {
		return Pointer{}, false
	}
	m := pointerForm().FindSubmatch(text)
	if m == nil {
		return Pointer{}, false
	}
	size, err := strconv.ParseInt(string(m[2]), 10, 64)
	return Pointer{Oid: string(m[1]), Size: size}, err == nil
}

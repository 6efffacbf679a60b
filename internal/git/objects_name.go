package git

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
)

// Format is how the objects of a repository are named: by SHA-1 or by SHA-256.
type objectFormat struct{ SHA256 bool }

// Blob is the name of a file with this content.
func (f objectFormat) Blob(data []byte) string {
	var h hash.Hash = sha1.New()
	if f.SHA256 {
		h = sha256.New()
	}
	fmt.Fprintf(h, "blob %d\x00", len(data))
	h.Write(data)
	return hex.EncodeToString(h.Sum(nil))
}

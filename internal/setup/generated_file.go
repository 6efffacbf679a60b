package setup

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"
)

// GeneratedFile is one that init writes.
type GeneratedFile struct {
	Name string // from the top of the repository
	Text string
	// Stands says how the text that is there stands to this one, of a file without a
	// stamp: Same if it is to stay, Outdated if it may go. May be nil.
	Stands func(old string) FileState
}

// mark stands in a comment of a text that is to be stamped.
const mark = "(VERSION, sha256:DIGEST)"

// stamp is what a mark has become: the version that wrote the text, and the digest
// of all of it as it was written.
var stamp = regexp.MustCompile(`\([A-Za-z0-9][A-Za-z0-9.+_-]*, sha256:([0-9a-f]{16})\)`)

// stamped gives a text with its mark filled in.
func stamped(text, version string) string {
	return strings.Replace(text, mark, "("+version+", sha256:"+digestOf(text)+")", 1)
}

func digestOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// bare gives a text without what its stamp says, and the digest of it. Of a text
// without a stamp the digest is empty.
func bare(text string) (without, digest string) {
	at := stamp.FindStringSubmatchIndex(text)
	if at == nil {
		return text, ""
	}
	return text[:at[0]] + mark + text[at[1]:], text[at[2]:at[3]]
}

// Untouched reports whether a text is as init wrote it.
func Untouched(text string) bool {
	without, digest := bare(text)
	return digest != "" && digestOf(without) == digest
}

// alike says whether two texts differ at most in which version wrote them.
func alike(a, b string) bool {
	a, _ = bare(a)
	b, _ = bare(b)
	return a == b
}

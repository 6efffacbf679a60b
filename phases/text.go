package phases

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"strings"
)

// TruncateLine gives the first line of a text, cut to 200 characters.
func TruncateLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	if r := []rune(s); len(r) > 200 {
		return string(r[:200]) + "…"
	}
	return s
}

// Truncate cuts a text to so many Unicode code points.
func Truncate(text string, most int) string {
	if r := []rune(strings.TrimSpace(text)); len(r) > most {
		return string(r[:most]) + "…"
	}
	return strings.TrimSpace(text)
}

// ValidText takes out of a text what no text has.
func ValidText(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "")
}

// Digest is the SHA-256 of data in hexadecimal, by which works are told apart.
func Digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// Rounded rounds dollars to a millionth, which drops the noise of
// floating-point sums.
func Rounded(usd float64) float64 {
	if math.Abs(usd) > 1e9 {
		return usd // it has no such digits
	}
	return math.Round(usd*1e6) / 1e6
}

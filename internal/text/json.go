package text

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"syscall"
	"unicode/utf16"

	"go.yaml.in/yaml/v3"
)

// EscapeJSON writes JSON so that it is the same value, nothing in it counts as a
// workflow command, and a terminal obeys nothing in it.
func EscapeJSON(text []byte) []byte {
	text = bytes.ReplaceAll(text, []byte("##["), []byte(`##\u005b`))
	if bytes.IndexFunc(text, Obeyed) < 0 {
		return text
	}
	var out bytes.Buffer
	for _, r := range string(text) { // it is valid UTF-8
		switch {
		case !Obeyed(r):
			out.WriteRune(r)
		case r > 0xffff:
			hi, lo := utf16.EncodeRune(r)
			fmt.Fprintf(&out, `\u%04x\u%04x`, hi, lo)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return out.Bytes()
}

// PrintJSON prints one value for programs, over several lines.
func PrintJSON(w io.Writer, v any) error {
	text, err := JSON(v)
	if err != nil {
		return err
	}
	_, err = w.Write(EscapeJSON(text))
	return Unread(err)
}

// Unread takes the error of a write to standard output; it is none if only nobody reads that
// any more, as in "reprise status --json | head -n 1".
func Unread(err error) error {
	if errors.Is(err, syscall.EPIPE) {
		return nil
	}
	return err
}

// JSON is a value as a file has it that people read, too: over several lines, and with
// "<", ">" and "&" as they are.
func JSON(v any) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(v)
	return out.Bytes(), err
}

// TableIn reads a YAML file that is part of this program into a value, and gives that. The file has to be
// right, which a test of its package sees to.
func TableIn[T any](all T, file []byte) T {
	in := yaml.NewDecoder(bytes.NewReader(file))
	in.KnownFields(true)
	if err := in.Decode(&all); err != nil {
		panic(fmt.Sprintf("a table of this program, %.60q: %v", file, err))
	}
	return all
}

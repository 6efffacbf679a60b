// Package indexfile is the file in which git keeps its index: which object each path of a
// work tree is to have in the next commit. It is read and written here, because a process of
// git for it takes longer than that. The format is that of gitformat-index(5).
package indexfile

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Entry is a path with the object that it is to have. A mode is as "100644"; an entry
// without an ID takes its path out of an index.
type Entry struct{ Path, Mode, ID string }

// File is an index.
type File struct {
	hash    int // bytes of the name of an object
	entries []entry
	known   *folder   // nil: git has noted nothing about folders
	written time.Time // zero: it was never
}

// entry is an entry as the file has it.
type entry struct{ path, raw string }

// What lies where in an entry; the name of the object comes after that.
const (
	modeAt = 24
	nameAt = 40
)

// Of the flags of an entry, these are the length of its path, or the most that it can be.
const length = 0x0fff

// version is of the form of the file in which no entry has further flags.
const version = 2

// Read reads an index whose objects have names of so many bytes. One that is not there has
// no entries. One that is no ordinary file, that does not have the sum that it names, or that
// tells git to overlook a file, is refused: nobody who may write it does that.
func Read(name string, hash int) (*File, error) {
	f := &File{hash: hash}
	there, err := os.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err == nil && !there.Mode().IsRegular() {
		err = errForm // to read from a pipe would take for ever
	}
	var data []byte
	if err == nil {
		data, err = os.ReadFile(name)
	}
	if err == nil {
		f.written = there.ModTime()
		err = f.parse(data)
	}
	if err != nil {
		return nil, fmt.Errorf("read git's index %s: %w", name, err)
	}
	return f, nil
}

var errForm = errors.New("it is damaged, or in a form that reprise does not know")

func (f *File) parse(data []byte) error {
	end := len(data) - f.hash
	if end < 12 || !bytes.Equal(f.sum(data[:end]), data[end:]) {
		return errForm
	}
	text := string(data[:end])
	count, rest := number(text[8:]), text[12:]
	if text[:4] != "DIRC" || number(text[4:]) != version || int64(count) > int64(len(rest)/nameAt) {
		return errForm
	}
	f.entries = make([]entry, 0, count)
	before := ""
	for range count {
		e, err := f.next(rest)
		if err != nil {
			return err
		}
		if e.path <= before {
			return errForm
		}
		f.entries, rest, before = append(f.entries, e), rest[len(e.raw):], e.path
	}
	return f.extensions(rest)
}

// sum is what an index ends with.
func (f *File) sum(data []byte) []byte {
	if f.hash == sha256.Size {
		sum := sha256.Sum256(data)
		return sum[:]
	}
	sum := sha1.Sum(data)
	return sum[:]
}

func number(text string) uint32 { return binary.BigEndian.Uint32([]byte(text[:4])) }

// next gives the entry that a text begins with.
func (f *File) next(text string) (entry, error) {
	at := nameAt + f.hash
	if len(text) < at+3 {
		return entry{}, errForm
	}
	flags := binary.BigEndian.Uint16([]byte(text[at : at+2]))
	at += 2
	end := strings.IndexByte(text[at:], 0)
	size := (at + end + 8) &^ 7
	if end < 1 || size > len(text) || int(flags) != min(end, length) {
		return entry{}, errForm
	}
	return entry{text[at : at+end], text[:size]}, nil
}

// extensions reads what git has noted beside the entries. What it need not know is left
// out; but for folders, git would not gain anything from that.
func (f *File) extensions(text string) (err error) {
	for len(text) > 0 && err == nil {
		if len(text) < 8 || int64(number(text[4:])) > int64(len(text)-8) {
			return errForm
		}
		name, data := text[:4], text[8:8+number(text[4:])]
		text = text[8+len(data):]
		switch {
		case name == "TREE":
			f.known, _, err = parseFolder(data, f.hash, 0)
		case name[0] < 'A' || name[0] > 'Z': // an index means something else without it
			err = errForm
		}
	}
	return err
}

// All gives the entries in the order of their paths.
func (f *File) All() iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		for _, e := range f.entries {
			if !yield(Entry{e.path, mode(number(e.raw[modeAt:])), hex.EncodeToString([]byte(e.raw[nameAt : nameAt+f.hash]))}) {
				return
			}
		}
	}
}

// mode is a mode as text; there can be very many that are the same.
func mode(bits uint32) string {
	switch bits {
	case 0o100644:
		return "100644"
	case 0o100755:
		return "100755"
	}
	return fmt.Sprintf("%06o", bits)
}

// Put puts entries in, each in place of what is at its path, above it and below it. Git
// looks at the files of new ones, as it does not know how old they are.
func (f *File) Put(entries []Entry) error {
	for _, e := range entries {
		i, found := f.find(e.Path)
		end := i
		if found {
			end++
		}
		raw := ""
		if e.ID != "" {
			var err error
			if raw, err = f.raw(e); err != nil {
				return err
			}
		}
		f.known.forget(e.Path)
		if found && raw != "" {
			f.entries[i].raw = raw
			continue
		}
		f.entries = slices.Delete(f.entries, i, end)
		if raw != "" {
			f.clear(e.Path)
			i, _ = f.find(e.Path)
			f.entries = slices.Insert(f.entries, i, entry{e.Path, raw})
		}
	}
	return nil
}

func (f *File) find(path string) (int, bool) {
	return slices.BinarySearchFunc(f.entries, path, func(e entry, path string) int { return strings.Compare(e.path, path) })
}

// clear takes out what cannot be beside a new path.
func (f *File) clear(path string) {
	for i := range len(path) {
		if path[i] != '/' {
			continue
		}
		if at, found := f.find(path[:i]); found {
			f.entries = slices.Delete(f.entries, at, at+1)
			f.known.forget(path[:i])
		}
	}
	from, to := f.below(path)
	for _, e := range f.entries[from:to] {
		f.known.forget(e.path)
	}
	f.entries = slices.Delete(f.entries, from, to)
}

// raw is an entry as the file has it.
func (f *File) raw(e Entry) (string, error) {
	mode, err := strconv.ParseUint(e.Mode, 8, 32)
	id, wrong := hex.DecodeString(e.ID)
	if err = errors.Join(err, wrong); err != nil || len(id) != f.hash || e.Path == "" || strings.Contains(e.Path, "\x00") {
		return "", fmt.Errorf("%q cannot be in git's index: %w", e, err)
	}
	b := make([]byte, nameAt, nameAt+f.hash+len(e.Path)+10)
	binary.BigEndian.PutUint32(b[modeAt:], uint32(mode))
	b = append(b, id...)
	b = binary.BigEndian.AppendUint16(b, uint16(min(len(e.Path), length)))
	b = append(b, e.Path...)
	return string(append(b, make([]byte, 8-len(b)%8)...)), nil
}

// Write writes an index in the way of git: a file of that name with .lock after it keeps
// others away, and is left there by a process that is killed. What git would look at once
// more, because it changed when the index was written, it still does.
func (f *File) Write(name string) error {
	lock, err := os.OpenFile(name+".lock", os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	_, err = lock.Write(f.bytes())
	if err = errors.Join(err, lock.Close()); err == nil && !f.written.IsZero() {
		err = os.Chtimes(lock.Name(), f.written, f.written)
	}
	if err == nil {
		err = os.Rename(lock.Name(), name)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write git's index: %w", err), os.Remove(lock.Name()))
	}
	return nil
}

func (f *File) bytes() []byte {
	b := []byte("DIRC")
	b = binary.BigEndian.AppendUint32(b, version)
	b = binary.BigEndian.AppendUint32(b, uint32(len(f.entries)))
	size := 0
	for _, e := range f.entries {
		size += len(e.raw)
	}
	b = slices.Grow(b, size+size/8)
	for _, e := range f.entries {
		b = append(b, e.raw...)
	}
	if f.known != nil {
		known := f.known.append(nil, "")
		b = append(b, "TREE"...)
		b = binary.BigEndian.AppendUint32(b, uint32(len(known)))
		b = append(b, known...)
	}
	return append(b, f.sum(b)...)
}

package indexfile

import "encoding/hex"

// Stamp is a time of a file: seconds, and nanoseconds above them, as far as git keeps them.
type Stamp struct{ Seconds, Nanoseconds uint32 }

// StampOf is a time as git keeps it.
func StampOf(seconds, nanoseconds int64) Stamp { return Stamp{uint32(seconds), uint32(nanoseconds)} }

// Before says whether a time is earlier than another.
func (s Stamp) Before(t Stamp) bool {
	return s.Seconds < t.Seconds || s.Seconds == t.Seconds && s.Nanoseconds < t.Nanoseconds
}

// Seen is what git noted about a file when it took it into the index. Of larger numbers it
// keeps the lowest 32 bits.
type Seen struct {
	Changed  Stamp // when anything about the file changed last, which no program can set
	Modified Stamp // when its data changed last
	Device   uint32
	Inode    uint32
	Mode     uint32 // as 0o100644
	User     uint32
	Group    uint32
	Size     uint32
}

// Noted gives what git noted about the file at a path, and its object.
func (f *File) Noted(path string) (s Seen, id string, ok bool) {
	i, ok := f.find(path)
	if !ok {
		return Seen{}, "", false
	}
	raw := f.entries[i].raw
	at := func(from int) uint32 { return number(raw[from:]) }
	return Seen{
		Changed: Stamp{at(0), at(4)}, Modified: Stamp{at(8), at(12)},
		Device: at(16), Inode: at(20), Mode: at(modeAt), User: at(28), Group: at(32), Size: at(36),
	}, hex.EncodeToString([]byte(raw[nameAt : nameAt+f.hash])), true
}

// Has says whether there is an entry at a path.
func (f *File) Has(path string) bool {
	_, ok := f.find(path)
	return ok
}

// Len is how many entries there are.
func (f *File) Len() int { return len(f.entries) }

// Below is how many of them lie in a folder, at any depth.
func (f *File) Below(folder string) int {
	from, to := f.below(folder)
	return to - from
}

func (f *File) below(folder string) (from, to int) {
	from, _ = f.find(folder + "/")
	to, _ = f.find(folder + "0") // the character after the slash
	return from, to
}

// Written is when the index was written: what changed later than that, git has not seen.
func (f *File) Written() Stamp {
	if f.written.IsZero() {
		return Stamp{}
	}
	return StampOf(f.written.Unix(), int64(f.written.Nanosecond()))
}

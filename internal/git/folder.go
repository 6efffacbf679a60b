// Package folder is a folder as git keeps it: a list of names, each with a mode and
// the object that it stands for.
package git

import (
	"bytes"
	"encoding/hex"
	"errors"
	"strconv"
	"strings"
)

// Mode is the mode of a folder in another.
const folderMode = "40000"

// Entry is an entry of a folder, with the mode as it stands there.
type folderEntry struct{ Name, Mode, ID string }

// Entries reads a folder as git keeps it, with ids of so many bytes.
func folderEntries(data []byte, size int) (all []folderEntry, err error) {
	for len(data) > 0 {
		info, after, _ := bytes.Cut(data, []byte{0})
		mode, name, ok := strings.Cut(string(info), " ")
		if !ok || len(after) < size {
			return nil, errors.New("is no folder that git could have written")
		}
		all = append(all, folderEntry{name, mode, hex.EncodeToString(after[:size])})
		data = after[size:]
	}
	return all, nil
}

// PlainMode gives a mode as git does today: old ones of files say more.
func plainMode(mode string) string {
	if bits, err := strconv.ParseUint(mode, 8, 32); err == nil && strings.HasPrefix(mode, "100") {
		if bits&0o100 != 0 {
			return "100755"
		}
		return "100644"
	}
	return mode
}

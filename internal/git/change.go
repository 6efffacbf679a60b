package git

import "io/fs"

// Change is one path of the work tree that is not as in the tip.
type Change struct {
	Path string // from the top of the repository; may hold any byte but zero
	Kind Kind
	Type Type  // what is there now; None if it was deleted
	Was  Type  // what the tip has; None if it was added
	Size int64 // of what is there now, in bytes

	// Alias is a path of the tip, or of a change before this one, that some file
	// systems take for the same as this new path; "" if there is none. It can be
	// a folder, if this one would come to lie in it.
	Alias string
	// LinkedFrom are the symbolic links of the tip that lead to this path.
	LinkedFrom []string
	// Large says that Git LFS keeps the file, and that it cannot be committed.
	// Without git-lfs that is every file that is no pointer. With it, it is a
	// file that has replaced a pointer whose content is missing here, or a
	// pointer to unknown content.
	Large bool
}

// Kind is what happened to a path.
type Kind string

// The kinds of change. A change of type is one such as from file to symbolic
// link; a file that became executable is modified.
const (
	Added       Kind = "added"
	Modified    Kind = "modified"
	Deleted     Kind = "deleted"
	TypeChanged Kind = "type changed"
)

// Type is what a path is.
type Type string

// The types of path. A Repository is a submodule, or a folder that somebody
// made a repository of its own. Other is a pipe, a socket or a device.
const (
	None       Type = ""
	File       Type = "file"
	Executable Type = "executable"
	Symlink    Type = "symlink"
	Repository Type = "repository"
	Other      Type = "other"
)

func typeOf(info fs.FileInfo) Type {
	switch {
	case info.Mode().IsRegular() && info.Mode()&0o100 != 0:
		return Executable
	case info.Mode().IsRegular():
		return File
	case info.Mode()&fs.ModeSymlink != 0:
		return Symlink
	}
	return Other
}

func typeOfMode(mode string) Type {
	switch mode {
	case "100644":
		return File
	case "100755":
		return Executable
	case "120000":
		return Symlink
	case "160000":
		return Repository
	}
	return Other
}

func changeKind(was, is Type) Kind {
	plain := func(t Type) bool { return t == File || t == Executable }
	if was == is || plain(was) && plain(is) {
		return Modified
	}
	return TypeChanged
}

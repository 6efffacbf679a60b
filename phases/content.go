package phases

import "bytes"

// Content is what a file holds, as far as its first bytes tell.
type Content string

// The kinds of content.
const (
	TextContent    Content = "text"
	ScriptContent  Content = "script" // text that begins with #!
	BinaryContent  Content = "binary"
	ProgramContent Content = "program"
)

// HeadSize is how many bytes of a file ContentOf wants to see: as many as git looks at.
const HeadSize = 8000

// ContentOf says what a file holds, by its first bytes.
func ContentOf(head []byte) Content {
	head = head[:min(len(head), HeadSize)]
	zero := bytes.IndexByte(head, 0) >= 0
	switch {
	case isProgram(head, zero):
		return ProgramContent
	case zero:
		return BinaryContent
	case bytes.HasPrefix(head, []byte("#!")):
		return ScriptContent
	}
	return TextContent
}

// Opaque reports whether a diff cannot show what changed.
func (c Content) Opaque() bool { return c == BinaryContent || c == ProgramContent }

// isProgram knows the formats of programs and of archives. A text can begin with MZ, but has no zero bytes.
func isProgram(head []byte, zero bool) bool {
	for _, magic := range []string{
		"\x7fELF", "\xfe\xed\xfa\xce", "\xfe\xed\xfa\xcf", "\xce\xfa\xed\xfe", "\xcf\xfa\xed\xfe", "\xca\xfe\xba\xbe", "\xca\xfe\xba\xbf", // ELF, Mach-O, Java
		"\x00asm", "BC\xc0\xde", "dex\n03", // WebAssembly, LLVM, Android
		"PK\x03\x04", "PK\x05\x06", "\x1f\x8b", "\x1f\x9d", "BZh91AY&SY", "\xfd7zXZ\x00", "7z\xbc\xaf\x27\x1c", "\x28\xb5\x2f\xfd", "\x04\x22\x4d\x18",
		"Rar!\x1a\x07", "!<arch>\n", "xar!", "MSCF\x00", "\xed\xab\xee\xdb",
	} {
		if bytes.HasPrefix(head, []byte(magic)) {
			return true
		}
	}
	tar := len(head) >= 262 && string(head[257:262]) == "ustar"
	return tar || zero && bytes.HasPrefix(head, []byte("MZ"))
}

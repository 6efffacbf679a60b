//go:build linux && !amd64 && !arm64

package sandbox

// The filter does not know this machine.
const filterMachine = 0

func keyCalls() []uint32      { return nil }
func reachingCalls() []uint32 { return nil }
func systemVCalls() []uint32  { return nil }
func ofProcess() []uint32     { return nil }
func ofKind() []kindCall      { return nil }

func openingCalls() map[uint32]uint32 { return nil }

type kindCall struct{ call, user uint32 }

package source

import (
	"fmt"

	"cuelang.org/go/cue"

	// What files may import: CUE's standard packages, but for those of its own command
	// and the one that writes OpenAPI.
	_ "cuelang.org/go/pkg/crypto/ed25519"
	_ "cuelang.org/go/pkg/crypto/hmac"
	_ "cuelang.org/go/pkg/crypto/md5"
	_ "cuelang.org/go/pkg/crypto/sha1"
	_ "cuelang.org/go/pkg/crypto/sha256"
	_ "cuelang.org/go/pkg/crypto/sha512"
	_ "cuelang.org/go/pkg/encoding/base64"
	_ "cuelang.org/go/pkg/encoding/csv"
	_ "cuelang.org/go/pkg/encoding/hex"
	_ "cuelang.org/go/pkg/encoding/json"
	_ "cuelang.org/go/pkg/encoding/toml"
	_ "cuelang.org/go/pkg/encoding/yaml"
	_ "cuelang.org/go/pkg/html"
	_ "cuelang.org/go/pkg/list"
	_ "cuelang.org/go/pkg/math"
	_ "cuelang.org/go/pkg/math/bits"
	_ "cuelang.org/go/pkg/net"
	_ "cuelang.org/go/pkg/path"
	_ "cuelang.org/go/pkg/regexp"
	_ "cuelang.org/go/pkg/strconv"
	_ "cuelang.org/go/pkg/strings"
	_ "cuelang.org/go/pkg/struct"
	_ "cuelang.org/go/pkg/text/tabwriter"
	_ "cuelang.org/go/pkg/text/template"
	_ "cuelang.org/go/pkg/time"
	_ "cuelang.org/go/pkg/uuid"
)

// NewContext gives a context to evaluate CUE in. That of CUE's own package cuecontext can embed files
// besides, which brings Protocol Buffers, XML and OpenAPI along: a tenth of the program.
func NewContext() *cue.Context {
	//lint:ignore SA1019 a Runtime is the same as a Context, and the only other way to one
	var r cue.Runtime
	//lint:ignore SA1019 as above
	if _, err := r.Compile("", ""); err != nil {
		panic(fmt.Sprintf("an empty file in CUE: %v", err)) // it has nothing that could be wrong
	}
	return (*cue.Context)(&r)
}

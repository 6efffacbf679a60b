package issue

import (
	"bytes"
	"encoding/binary"
	"image"
	_ "image/gif"  // so that their size is read
	_ "image/jpeg" // so that their size is read
	_ "image/png"  // so that their size is read

	"github.com/reprise-ci/reprise/metadata"
)

// The most that an image may have.
const (
	mostBytes = 5 << 20
	mostSide  = 8_000      // pixels: models take no more
	mostArea  = 40_000_000 // pixels
)

// kindOf tells by the bytes which kind of image they are, or why an agent does not get
// them. Only their head is read: nothing is unpacked.
func kindOf(data []byte) (kind string, why metadata.Reason) {
	var size image.Config
	var err error
	if width, height, ok := webp(data); ok {
		kind, size = "webp", image.Config{Width: width, Height: height}
	} else if size, kind, err = image.DecodeConfig(bytes.NewReader(data)); err != nil {
		return "", metadata.Because("image_kind")
	}
	if side := max(size.Width, size.Height); min(size.Width, size.Height) < 1 || side > mostSide || size.Width*size.Height > mostArea {
		return "", metadata.Because("image_area", "width", size.Width, "height", size.Height)
	}
	return kind, ""
}

// kinds are the types that a file can have, as its name says them.
var kinds = []string{"gif", "jpeg", "png", "webp"}

// webp reads the size out of the head of a WebP file, in each of its three forms.
func webp(data []byte) (width, height int, ok bool) {
	if len(data) < 30 || string(data[:4]) != "RIFF" || string(data[8:12]) != "WEBP" {
		return 0, 0, false
	}
	little := binary.LittleEndian
	switch body := data[20:]; string(data[12:16]) {
	case "VP8 ": // after three bytes of the frame and three that begin a key frame
		return int(little.Uint16(body[6:]) & 0x3fff), int(little.Uint16(body[8:]) & 0x3fff), body[3] == 0x9d && body[4] == 0x01 && body[5] == 0x2a
	case "VP8L":
		bits := little.Uint32(body[1:])
		return int(bits&0x3fff) + 1, int(bits>>14&0x3fff) + 1, body[0] == 0x2f
	case "VP8X":
		three := func(at int) int { return int(body[at]) | int(body[at+1])<<8 | int(body[at+2])<<16 }
		return three(4) + 1, three(7) + 1, true
	}
	return 0, 0, false
}

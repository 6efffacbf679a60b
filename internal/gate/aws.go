package gate

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash/crc32"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// sign gives the headers by which a service of AWS in a region knows who sends a request without a query, see
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html.
func (k shortKey) sign(method string, to *url.URL, body []byte, region, service string, now time.Time) http.Header {
	const kind, names = "AWS4-HMAC-SHA256", "host;x-amz-date;x-amz-security-token"
	at := now.UTC().Format("20060102T150405Z")
	headers := "host:" + to.Host + "\nx-amz-date:" + at + "\nx-amz-security-token:" + k.Token + "\n"
	path := strings.ReplaceAll(url.QueryEscape(to.EscapedPath()), "%2F", "/") // what is escaped is escaped once more
	request := strings.Join([]string{method, path, "", headers, names, digest(body)}, "\n")
	scope := strings.Join([]string{at[:8], region, service, "aws4_request"}, "/")
	key := []byte("AWS4" + k.Secret)
	for part := range strings.SplitSeq(scope, "/") {
		key = authenticated(key, part)
	}
	signature := hex.EncodeToString(authenticated(key, strings.Join([]string{kind, at, scope, digest([]byte(request))}, "\n")))
	return http.Header{
		"X-Amz-Date": {at}, "X-Amz-Security-Token": {k.Token},
		"Authorization": {kind + " Credential=" + k.ID + "/" + scope + ", SignedHeaders=" + names + ", Signature=" + signature},
	}
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func authenticated(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

// awsStream is the type of an answer in frames: their length and that of their headers, a checksum of both, the headers,
// what they carry, and a checksum of all that.
const awsStream = "application/vnd.amazon.eventstream"

// frame gives what the first frame of some data carries, and its size: 0 while it has not come to its end. What is no
// frame is not good.
func frame(data []byte) (carried []byte, size int, good bool) {
	const before, around = 12, 16 // bytes: of the lengths with their checksum, and of all but headers and what is carried
	if len(data) < before {
		return nil, 0, true
	}
	number := binary.BigEndian.Uint32
	all, headers := int(number(data)), int(number(data[4:]))
	switch {
	case crc32.ChecksumIEEE(data[:8]) != number(data[8:]), all > maxBody, headers > all-around:
		return nil, 0, false
	case len(data) < all:
		return nil, 0, true
	case crc32.ChecksumIEEE(data[:all-4]) != number(data[all-4:]):
		return nil, 0, false
	}
	return data[before+headers : all-4], all, true
}

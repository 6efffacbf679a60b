package issue

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/url"
	"time"

	"github.com/reprise-ci/reprise/internal/github"
	"github.com/reprise-ci/reprise/metadata"
)

// The most that is fetched and noted of an issue.
const (
	most    = 10              // images that are fetched
	noted   = 30              // images of which the record says why they were not, too
	allTime = 2 * time.Minute // for all together
)

// ImagePlace is where an issue is that may have images.
type ImagePlace struct {
	GitHub      *github.Client
	Owner, Name string
	Number      int
}

// Fetch gives the images that people see in an issue and in what was said below it, with
// their bytes, or why there are none. It takes at most ten, from where GitHub keeps what people have
// attached. An error is why ctx was cancelled.
func (p ImagePlace) Fetch(ctx context.Context, is Issue) ([]Image, error) {
	is.Clean() // a copy: what people do not see has no images
	return p.fetch(ctx, sources(is), func(string) bool { return true })
}

// fetch fetches those images of texts that are wanted.
func (p ImagePlace) fetch(ctx context.Context, texts []source, wanted func(address string) bool) ([]Image, error) {
	within, cancel := context.WithTimeout(ctx, allTime)
	defer cancel()
	h := hosts{p.GitHub.Web()}
	var all []Image
	fetched := 0
	for _, text := range texts {
		var markup *string // how people are shown the text, once that was asked for
		for _, address := range text.images {
			at, err := url.Parse(address)
			image := Image{Image: metadata.Image{URL: address}}
			switch {
			case len(all) >= noted:
				return all, nil
			case !wanted(address):
				continue
			case err != nil || !h.attached(at):
				image.Why = metadata.Because("image_host", "host", hostOf(at))
			case fetched >= most:
				image.Why = metadata.Because("image_number", "most", most)
			default:
				fetched++
				if markup == nil && mark.MatchString(address) {
					shown := p.shown(within, text.comment)
					markup = &shown
				}
				if markup != nil {
					if signed := h.signed(*markup, address); signed != nil {
						at = signed
					}
				}
				if image, err = p.one(within, image, at, h); ctx.Err() != nil {
					return nil, context.Cause(ctx)
				} else if err != nil {
					image.Why = reasonOf(err)
				}
			}
			all = append(all, image)
		}
	}
	return all, nil
}

// shown gives how people are shown a text. If that cannot be had, the images are asked
// for where the text itself has them.
func (p ImagePlace) shown(ctx context.Context, comment int64) string {
	markup, err := p.GitHub.Thread(p.Owner, p.Name, p.Number).Shown(ctx, comment)
	if err != nil {
		return ""
	}
	return markup
}

// one fetches one image.
func (p ImagePlace) one(ctx context.Context, image Image, at *url.URL, h hosts) (Image, error) {
	data, err := p.GitHub.Attachment(ctx, at, mostBytes, h.own)
	if err != nil {
		return image, err
	}
	kind, why := kindOf(data)
	if why != "" {
		image.Why = why
		return image, nil
	}
	image.Data, image.Digest, image.Type, image.Size = data, digest(data), kind, len(data)
	return image, nil
}

// reasonOf says why an image was not fetched.
func reasonOf(err error) metadata.Reason {
	e, ok := errors.AsType[*github.AttachmentError](err)
	switch {
	case !ok || e.Err != nil:
		return metadata.Because("image_unreachable")
	case e.Large:
		return metadata.Because("image_size", "most", mostBytes>>20)
	case e.Status/100 == 3:
		return metadata.Because("image_elsewhere")
	}
	return metadata.Because("image_gone", "status", e.Status)
}

func hostOf(u *url.URL) string {
	if u == nil {
		return ""
	}
	return u.Host
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

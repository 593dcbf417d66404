package s3

import (
	"net/http"

	"github.com/minio/minio-go/v7/pkg/signer"
)

// NewSigner finds the credentials of s, and returns functions for requests to
// another service of the same provider, such as SQS: sign returns a signed copy of
// a request with a body, and expire makes the next call ask for other credentials.
func NewSigner(s Settings, service, region string) (sign func(r *http.Request, body []byte) (*http.Request, error), expire func(), err error) {
	creds, err := s.credentials(env)
	if err != nil {
		return nil, nil, err
	}
	sign = func(r *http.Request, body []byte) (*http.Request, error) {
		v, err := creds.GetWithContext(nil)
		if err != nil {
			return nil, err
		}
		r.Header.Set("X-Amz-Content-Sha256", sum(body))
		return signer.SignV4WithServiceType(*r, v.AccessKeyID, v.SecretAccessKey, v.SessionToken, region, service), nil
	}
	return sign, creds.Expire, nil
}

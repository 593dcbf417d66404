package objects

import (
	"slices"
	"strings"
	"testing"
)

// TestReferencesIn: the messages of urlfold, and the notifications of Amazon S3 in the
// forms that its documentation has as examples, alone, in SNS and from EventBridge,
// and those of Ceph, MinIO and versitygw.
func TestReferencesIn(t *testing.T) {
	const s3 = `{"Records":[{"eventVersion":"2.1","eventSource":"aws:s3","awsRegion":"us-west-2","eventTime":"1970-01-01T00:00:00.000Z",
		"eventName":"ObjectCreated:Put","userIdentity":{"principalId":"AIDAJDPLRKLG7UEXAMPLE"},"requestParameters":{"sourceIPAddress":"127.0.0.1"},
		"responseElements":{"x-amz-request-id":"C3D13FE58DE4C810"},"s3":{"s3SchemaVersion":"1.0","configurationId":"testConfigRule",
		"bucket":{"name":"amzn-s3-demo-bucket","ownerIdentity":{"principalId":"A3NL1KOZZKExample"},"arn":"arn:aws:s3:::amzn-s3-demo-bucket"},
		"object":{"key":"Happy+Face%2B1.jpg","size":1024,"eTag":"d41d8cd98f00b204e9800998ecf8427e","versionId":"096fKKXTRTtl3on89fVO.nfljtsv6qko","sequencer":"0055AED6DCD90281E5"}}}]}`
	const test = `{"Service":"Amazon S3","Event":"s3:TestEvent","Time":"2014-10-13T15:57:02.089Z","Bucket":"amzn-s3-demo-bucket","RequestId":"5582815E1AEA5ADF","HostId":"8cLeGAmw098X5cv4Zkwcmo8vvZa3eH3eKxsPzbB9wrR+YstdA6Knx4Ip8EXAMPLE"}`
	const bridge = `{"version":"0","id":"17793124-05d4-b198-2fde-7ededc63b103","detail-type":"Object Created","source":"aws.s3","account":"111122223333",
		"time":"2021-11-12T00:00:00Z","region":"ca-central-1","resources":["arn:aws:s3:::amzn-s3-demo-bucket1"],"detail":{"version":"0",
		"bucket":{"name":"amzn-s3-demo-bucket1"},"object":{"key":"example+key","size":5,"etag":"b1946ac92492d2347c6235b4d2611184","version-id":"IYV3p45BT0ac8hjHg1houSdS1a.Mro8e","sequencer":"617f08299329d189"},
		"request-id":"N4N7GDK58NMKJ12R","requester":"123456789012","source-ip-address":"1.2.3.4","reason":"PutObject"}}`
	sns := func(inner string) string {
		return `{"Type":"Notification","MessageId":"1","TopicArn":"arn:aws:sns:us-west-2:1:t","Subject":"Amazon S3 Notification","Message":"` +
			strings.NewReplacer(`"`, `\"`, "\n", `\n`, "\t", `\t`).Replace(inner) + `","Signature":"x"}`
	}
	for _, c := range []struct {
		name, text, want string // want: paths separated by spaces, and with them # and the etag and the version; or the start of an error after !
	}{
		{"reference", `{"url":"s3://b/a+b%20/c","etag":"x"}`, "s3://b/a+b%20/c#x#"},
		{"dead letter", `{"url":"s3://b/k","etag":"x","verdict":"unreadable","detail":"unreadable: object is archived"}`, "s3://b/k"},
		{"S3", s3, "s3://amzn-s3-demo-bucket/Happy Face+1.jpg#d41d8cd98f00b204e9800998ecf8427e#096fKKXTRTtl3on89fVO.nfljtsv6qko"},
		{"SNS", sns(s3), "s3://amzn-s3-demo-bucket/Happy Face+1.jpg#d41d8cd98f00b204e9800998ecf8427e#096fKKXTRTtl3on89fVO.nfljtsv6qko"},
		{"EventBridge", bridge, "s3://amzn-s3-demo-bucket1/example+key#b1946ac92492d2347c6235b4d2611184#IYV3p45BT0ac8hjHg1houSdS1a.Mro8e"},
		{"EventBridge, deleted", strings.Replace(bridge, "Created", "Deleted", 1), ""},
		{"test event", test, ""},
		{"test event in SNS", sns(test), ""},
		{"MinIO", `{"EventName":"s3:ObjectCreated:Put","Key":"b/k","Records":[{"eventName":"s3:ObjectCreated:CompleteMultipartUpload","s3":{"bucket":{"name":"b"},"object":{"key":"k"}}}]}`, "s3://b/k"},
		{"versitygw", `{"Records":[{"eventName":"s3:ObjectCreated:Put","s3":{"bucket":{"name":"b","arn":"arn:aws:s3:::/b/a+b%2Bc"},"object":{"key":"a+b%2Bc"}}}]}`, "s3://b/a+b%2Bc"},
		{"several", `{"Records":[{"eventName":"ObjectCreated:Copy","s3":{"bucket":{"name":"b"},"object":{"key":"1"}}},{"eventName":"ObjectRemoved:Delete","s3":{"bucket":{"name":"b"},"object":{"key":"2"}}},
			{"eventName":"ObjectRestore:Completed","s3":{"bucket":{"name":"b"},"object":{"key":"3"}}}]}`, "s3://b/1 s3://b/3"},
		{"no records", `{"Records":[]}`, ""},
		{"text", "s3://b/k", "!must be JSON that names an object"},
		{"other JSON", `{"key":"k"}`, "!neither"},
		{"folder", `{"url":"s3://b/"}`, "!the URL of the object must be s3://"},
		{"file", `{"url":"file:///etc/passwd"}`, "!the URL of the object must be s3://"},
		{"escape", `{"Records":[{"eventName":"ObjectCreated:Put","s3":{"bucket":{"name":"b"},"object":{"key":"%zz"}}}]}`, "!entry 1 of Records: invalid"},
		{"no key", `{"Records":[{"eventName":"ObjectCreated:Put","s3":{"bucket":{"name":"b"}}}]}`, "!entry 1 of Records: the URL"},
		{"SNS of something", sns("hello"), "!the SNS notification"},
		{"SNS in SNS", sns(`{"Type":"Notification","Message":"{}"}`), "!the SNS notification"},
	} {
		refs, err := referencesIn([]byte(c.text))
		var got []string
		for _, r := range refs {
			text := r.URL
			if r.ETag+r.VersionID != "" {
				text += "#" + r.ETag + "#" + r.VersionID
			}
			got = append(got, text)
		}
		want, fails := strings.CutPrefix(c.want, "!")
		switch {
		case fails:
			if err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%s: error %v, want %s", c.name, err, want)
			}
		case err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.name == "S3" || c.name == "SNS": // the key has a space
			if len(got) != 1 || got[0] != want {
				t.Errorf("%s: %q", c.name, got)
			}
		case !slices.Equal(got, strings.Fields(want)):
			t.Errorf("%s: %q, want %q", c.name, got, want)
		}
	}
}

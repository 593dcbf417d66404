WARC/1.0
WARC-Type: warcinfo
WARC-Date: 2026-05-01T11:00:00Z
WARC-Filename: EXAMPLE-20260501100000-00000.warc.wat.gz
WARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-000000000001>
Content-Type: application/warc-fields
Content-Length: 164

Software-Info: ia-web-commons.1.1.10
Extracted-Date: Fri, 01 May 2026 11:00:00 GMT
ip: 192.0.2.67
hostname: crawler.example.org
format: WARC File Format 1.0



WARC/1.0
WARC-Type: metadata
WARC-Target-URI: HTTP://WWW.Example.com:80/robots.txt
WARC-Date: 2026-05-01T10:00:00Z
WARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-000000000002>
WARC-Refers-To: <urn:uuid:00000000-0000-4000-8000-000000000003>
Content-Type: application/json
Content-Length: 733

{"Container":{"Filename":"EXAMPLE-20260501100000-00000.warc.gz","Compressed":true,"Offset":"1000","Gzip-Metadata":{"Deflate-Length":"423","Header-Length":"10","Footer-Length":"8","Inflated-CRC":"1106529533","Inflated-Length":"626"}},"Envelope":{"Payload-Metadata":{"Actual-Content-Type":"application/http; msgtype=request","HTTP-Request-Metadata":{"Request-Message":{"Method":"GET","Path":"/robots.txt","Version":"HTTP/1.1"},"Headers":{"Host":"www.example.com","Referer":"http://no.example/"}}},"Format":"WARC/1.0","WARC-Header-Length":"357","WARC-Header-Metadata":{"WARC-Type":"request","WARC-Date":"2026-05-01T10:00:00Z","WARC-Target-URI":"HTTP://WWW.Example.com:80/robots.txt","Content-Type":"application/http; msgtype=request"}}}

WARC/1.0
WARC-Type: metadata
WARC-Target-URI: http://www.example.com/a/page.html
WARC-Date: 2026-05-01T10:00:00Z
WARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-000000000004>
WARC-Refers-To: <urn:uuid:00000000-0000-4000-8000-000000000005>
Content-Type: application/json
Content-Length: 1607

{"Container":{"Filename":"EXAMPLE-20260501100000-00000.warc.gz","Compressed":true,"Offset":"3000","Gzip-Metadata":{"Deflate-Length":"423","Header-Length":"10","Footer-Length":"8","Inflated-CRC":"1106529533","Inflated-Length":"626"}},"Envelope":{"Payload-Metadata":{"Actual-Content-Type":"application/http; msgtype=response","HTTP-Response-Metadata":{"Response-Message":{"Status":"200","Version":"HTTP/1.1","Reason":"OK"},"Headers-Length":"200","Headers":{"Content-Type":"text/html"},"HTML-Metadata":{"Head":{"Title":"Pages","Metas":[{"name":"viewport","content":"width=device-width"},{"http-equiv":"refresh","content":"5; url=../%7enext"}],"Link":[{"path":"LINK@/href","url":"/style.css","rel":"stylesheet","type":"text/css"},{"path":"LINK@/href","url":"HTTP://cdn.example.net:80/i.png","rel":"icon"}],"Scripts":[{"path":"SCRIPT@/src","url":"//cdn.example.net/x.js","type":"text/javascript"}]},"Links":[{"path":"A@/href","url":"b.html","text":"next"},{"path":"A@/href","url":"https://example.org/café?q=%c3%a9","title":"x","text":"y"},{"path":"IMG@/src","url":"img/a b.gif","alt":"url"},{"path":"A@/href","url":"#top"},{"path":"A@/href","url":"javascript:void(0)"},{"path":"FORM@/action","url":"?","method":"post"},{"path":"STYLE/#text","href":"bg.png"}]},"Entity-Length":"1000","Entity-Digest":"sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"},"Actual-Content-Length":"1200"},"Format":"WARC/1.0","WARC-Header-Length":"357","WARC-Header-Metadata":{"WARC-Type":"response","WARC-Date":"2026-05-01T10:00:00Z","WARC-Target-URI":"http://www.example.com/a/page.html","Content-Type":"application/http; msgtype=response"}}}

WARC/1.0
WARC-Type: metadata
WARC-Target-URI: http://www.example.com/based
WARC-Date: 2026-05-01T10:00:00Z
WARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-000000000006>
WARC-Refers-To: <urn:uuid:00000000-0000-4000-8000-000000000007>
Content-Type: application/json
Content-Length: 908

{"Container":{"Filename":"EXAMPLE-20260501100000-00000.warc.gz","Compressed":true,"Offset":"5000","Gzip-Metadata":{"Deflate-Length":"423","Header-Length":"10","Footer-Length":"8","Inflated-CRC":"1106529533","Inflated-Length":"626"}},"Envelope":{"Payload-Metadata":{"Actual-Content-Type":"application/http; msgtype=response","HTTP-Response-Metadata":{"Response-Message":{"Status":"200","Version":"HTTP/1.1","Reason":"OK"},"Headers-Length":"200","Headers":{"Content-Type":"text/html"},"HTML-Metadata":{"Links":[{"path":"A@/href","url":"x"}],"Head":{"Base":"/dir/"}},"Entity-Length":"1000","Entity-Digest":"sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"},"Actual-Content-Length":"1200"},"Format":"WARC/1.0","WARC-Header-Length":"357","WARC-Header-Metadata":{"WARC-Type":"response","WARC-Date":"2026-05-01T10:00:00Z","WARC-Target-URI":"http://www.example.com/based","Content-Type":"application/http; msgtype=response"}}}

WARC/1.0
WARC-Type: metadata
WARC-Target-URI: http://www.example.com/old
WARC-Date: 2026-05-01T10:00:00Z
WARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-000000000008>
WARC-Refers-To: <urn:uuid:00000000-0000-4000-8000-000000000009>
Content-Type: application/json
Content-Length: 846

{"Container":{"Filename":"EXAMPLE-20260501100000-00000.warc.gz","Compressed":true,"Offset":"7000","Gzip-Metadata":{"Deflate-Length":"423","Header-Length":"10","Footer-Length":"8","Inflated-CRC":"1106529533","Inflated-Length":"626"}},"Envelope":{"Payload-Metadata":{"Actual-Content-Type":"application/http; msgtype=response","HTTP-Response-Metadata":{"Response-Message":{"Status":"302","Version":"HTTP/1.1","Reason":"OK"},"Headers-Length":"200","Headers":{"Content-Type":"text/html","location":"/new%2e"},"Entity-Length":"1000","Entity-Digest":"sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"},"Actual-Content-Length":"1200"},"Format":"WARC/1.0","WARC-Header-Length":"357","WARC-Header-Metadata":{"WARC-Type":"response","WARC-Date":"2026-05-01T10:00:00Z","WARC-Target-URI":"http://www.example.com/old","Content-Type":"application/http; msgtype=response"}}}

WARC/1.0
WARC-Type: metadata
WARC-Target-URI: http://www.example.com/none
WARC-Date: 2026-05-01T10:00:00Z
WARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-000000000010>
WARC-Refers-To: <urn:uuid:00000000-0000-4000-8000-000000000011>
Content-Type: application/json
Content-Length: 865

{"Container":{"Filename":"EXAMPLE-20260501100000-00000.warc.gz","Compressed":true,"Offset":"9000","Gzip-Metadata":{"Deflate-Length":"423","Header-Length":"10","Footer-Length":"8","Inflated-CRC":"1106529533","Inflated-Length":"626"}},"Envelope":{"Payload-Metadata":{"Actual-Content-Type":"application/http; msgtype=response","HTTP-Response-Metadata":{"Response-Message":{"Status":"200","Version":"HTTP/1.1","Reason":"OK"},"Headers-Length":"200","Headers":{"Content-Type":"text/html"},"HTML-Metadata":{"Head":{},"Links":[]},"Entity-Length":"1000","Entity-Digest":"sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"},"Actual-Content-Length":"1200"},"Format":"WARC/1.0","WARC-Header-Length":"357","WARC-Header-Metadata":{"WARC-Type":"response","WARC-Date":"2026-05-01T10:00:00Z","WARC-Target-URI":"http://www.example.com/none","Content-Type":"application/http; msgtype=response"}}}

WARC/1.0
WARC-Type: metadata
WARC-Target-URI: http://[2001:DB8::1]/
WARC-Date: 2026-05-01T10:00:00Z
WARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-000000000012>
WARC-Refers-To: <urn:uuid:00000000-0000-4000-8000-000000000013>
Content-Type: application/json
Content-Length: 890

{"Container":{"Filename":"EXAMPLE-20260501100000-00000.warc.gz","Compressed":true,"Offset":"11000","Gzip-Metadata":{"Deflate-Length":"423","Header-Length":"10","Footer-Length":"8","Inflated-CRC":"1106529533","Inflated-Length":"626"}},"Envelope":{"Payload-Metadata":{"Actual-Content-Type":"application/http; msgtype=response","HTTP-Response-Metadata":{"Response-Message":{"Status":"200","Version":"HTTP/1.1","Reason":"OK"},"Headers-Length":"200","Headers":{"Content-Type":"text/html"},"HTML-Metadata":{"Links":[{"path":"A@/href","url":"/\"quoted\"\\"}]},"Entity-Length":"1000","Entity-Digest":"sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"},"Actual-Content-Length":"1200"},"Format":"WARC/1.0","WARC-Header-Length":"357","WARC-Header-Metadata":{"WARC-Type":"response","WARC-Date":"2026-05-01T10:00:00Z","WARC-Target-URI":"http://[2001:DB8::1]/","Content-Type":"application/http; msgtype=response"}}}

WARC/1.0
WARC-Type: metadata
WARC-Target-URI: http://www.example.com/text
WARC-Date: 2026-05-01T10:00:00Z
WARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-000000000014>
WARC-Refers-To: <urn:uuid:00000000-0000-4000-8000-000000000015>
Content-Type: application/json
Content-Length: 624

{"Container":{"Filename":"EXAMPLE-20260501100000-00000.warc.gz","Compressed":true,"Offset":"13000","Gzip-Metadata":{"Deflate-Length":"423","Header-Length":"10","Footer-Length":"8","Inflated-CRC":"1106529533","Inflated-Length":"626"}},"Envelope":{"Payload-Metadata":{"Actual-Content-Type":"application/http; msgtype=response","HTTP-Response-Metadata":{"Headers":{"Content-Type":"text/plain"}}},"Format":"WARC/1.0","WARC-Header-Length":"357","WARC-Header-Metadata":{"WARC-Type":"response","WARC-Date":"2026-05-01T10:00:00Z","WARC-Target-URI":"http://www.example.com/text","Content-Type":"application/http; msgtype=response"}}}

WARC/1.1
WARC-Type: metadata
WARC-Target-URI: http://www.example.com/1.1
WARC-Date: 2026-05-01T10:00:09.123Z
WARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-000000000016>
Content-Type: application/json
Content-Length: 142

{ "Envelope" : { "Payload-Metadata" : { "HTTP-Response-Metadata" : { "HTML-Metadata" : { "Links" : [ { "url" : "\/esc\u0061ped" } ] } } } } }



package main

import (
	"bufio"
	"os"
	"strings"
)

// form is a format with the form of its lines.
type form struct {
	name string
	args []string
	head string
	// line has placeholders: <NAME> becomes the text of a request, <NAME"> a
	// JSON string with it.
	line string
}

// common are the lines that several forms share.
const (
	combinedForm = `<client> - - [<clf>] "<method> <target> HTTP/1.1" <status> <bytes> "<referer>" "<agent>"`
	cells        = `<n>,<iso>,https://` + host + `<target>,<status>,<bytes>`
	subscription = `/SUBSCRIPTIONS/00000000-0000-0000-0000-000000000000/RESOURCEGROUPS/SHOP/PROVIDERS`
)

// forms holds the formats, in the exact form of their vendors. The manual of
// each is linked in docs/reference/formats.md.
var forms = []form{
	{name: combined, args: []string{"-f", "combined"}, line: combinedForm},
	{name: "clf", args: []string{"-f", "clf"}, line: `<client> - - [<clf>] "<method> <target> HTTP/1.1" <status> <bytes>`},
	{name: "vhost_combined", args: []string{"-f", "vhost_combined"}, line: host + `:443 ` + combinedForm},
	{name: "vhost_common", args: []string{"-f", "vhost_common"}, line: host + `:443 <client> - - [<clf>] "<method> <target> HTTP/1.1" <status> <bytes>`},
	{name: "log_format", args: []string{"-f", `$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent"`}, line: combinedForm},
	{name: "lines", args: []string{"-f", "lines"}, line: `https://` + host + `<target>`},
	{name: "csv", args: []string{"-f", "csv", "--url-field", "3"}, line: cells},
	{name: "csv-semicolon", args: []string{"-f", "csv-semicolon", "--url-field", "3"}, line: strings.ReplaceAll(cells, ",", ";")},
	{name: "csv-pipe", args: []string{"-f", "csv-pipe", "--url-field", "3"}, line: strings.ReplaceAll(cells, ",", "|")},
	{name: "tsv", args: []string{"-f", "tsv", "--url-field", "3"}, line: strings.ReplaceAll(cells, ",", "\t")},
	{name: "jsonl", args: []string{"-f", "jsonl", "--url-field", "url"}, line: `{"id":<n>,"time":<iso">,"url":"https://` + host + `<target">,"status":<status>,"bytes":<bytes>,"agent":<agent">}`},
	{
		name: "w3c IIS", args: []string{"-f", "w3c"},
		head: "#Software: Microsoft Internet Information Services 10.0\n#Version: 1.0\n#Fields: date time s-ip cs-method cs-uri-stem cs-uri-query s-port cs-username c-ip cs(User-Agent) cs(Referer) sc-status sc-substatus sc-win32-status time-taken\n",
		line: `<date> <clock> 192.0.2.1 <method> <path> <dash-query> 443 - <client> <plus-agent> <word-referer> <status> 0 0 15`,
	},
	{
		name: "w3c CloudFront", args: []string{"-f", "w3c"},
		head: "#Version: 1.0\n#Fields: date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem sc-status cs(Referer) cs(User-Agent) cs-uri-query cs(Cookie) x-edge-result-type x-edge-request-id x-host-header cs-protocol cs-bytes time-taken\n",
		line: "<date>\t<clock>\tFRA53\t<bytes>\t<client>\t<method>\td111111abcdef8.cloudfront.net\t<path>\t<status>\t<word-referer>\t<percent-agent>\t<dash-query>\t-\tHit\tSOX4xwn4XV6Q4rgb7XiVGOHms_BGlTAC4KyHmureZmBNrjGdRLiNIQ==\t" + host + "\thttps\t23\t0.001",
	},
	{
		name: "zeek", args: []string{"-f", "zeek"},
		head: "#separator \\x09\n#set_separator\t,\n#empty_field\t(empty)\n#unset_field\t-\n#path\thttp\n#fields\tts\tuid\tid.orig_h\tid.orig_p\tid.resp_h\tid.resp_p\ttrans_depth\tmethod\thost\turi\treferrer\tversion\tuser_agent\trequest_body_len\tresponse_body_len\tstatus_code\tstatus_msg\tinfo_code\tinfo_msg\ttags\tresp_fuids\tresp_mime_types\n",
		line: "<epoch>\tCwFs1P2UcUdlSxD2La\t<client>\t<port>\t192.0.2.80\t80\t1\t<method>\t" + host + "\t<target>\t<referer>\t1.1\t<agent>\t0\t<bytes>\t<status>\tOK\t-\t-\t(empty)\tFtw3fJ2JJF3ntMTL2\ttext/html",
	},
	{name: "logfmt", args: []string{"-f", "logfmt"}, line: `time="<iso>" level=info method=<method> path=<target"> host=` + host + ` status=<status> bytes=<bytes> remote_addr=<client> referer=<referer"> user_agent=<agent">`},
	{name: "logfmt Heroku", args: []string{"-f", "logfmt"}, line: `<iso> heroku[router]: at=info method=<method> path=<target"> host=` + host + ` request_id=8601b555-6a83-4c12-8269-97c8e32cdb22 fwd=<client"> dyno=web.1 connect=1ms service=18ms status=<status> bytes=<bytes> protocol=https`},
	{name: "ltsv", args: []string{"-f", "ltsv"}, line: "host:<client>\tident:-\tuser:-\ttime:[<clf>]\treq:<method> <target> HTTP/1.1\tstatus:<status>\tsize:<bytes>\treferer:<referer>\tua:<agent>"},
	{name: "log", args: []string{"-f", "log"}, line: `2015/05/17 10:05:03 [error] 31#31: *<n> access forbidden by rule, client: <client>, server: ` + host + `, request: "<method> <target> HTTP/1.1", host: "` + host + `", referrer: "<referer>"`},
	{
		name: "cef", args: []string{"-f", "cef"},
		line: `CEF:0|Zscaler|NSSWeblog|5.7|Allowed|Allowed|3| act=Allowed app=HTTPS cat=Shopping dhost=` + host + ` dst=192.0.2.80 src=<client> in=<bytes> outcome=<status> out=514 request=` + host + `<target> rt=May 17 2015 10:05:03 sourceTranslatedAddress=198.51.100.7 ` +
			`requestClientApplication=<agent> requestMethod=<method> suser=bob@example.com spriv=Berlin externalId=6819730423456789012 fileType=None reason=Allowed cn1=0 cn1Label=riskscore requestContext=<referer>`,
	},
	{name: "cdx", args: []string{"-f", "cdx"}, head: " CDX N b a m s k r M S V g\n", line: `com,example)<target> <digits> https://` + host + `<target> text/html <status> ZMSA5TNJUKKRYAIM5PRUJLL24DV7QYOO - - <bytes> 117273 WEB-20150914222031256-00000.warc.gz`},
	{name: "cdxj", args: []string{"-f", "cdxj"}, line: `com,example)<target> <digits> {"url": "https://` + host + `<target">, "mime": "text/html", "status": <status">, "digest": "ZMSA5TNJUKKRYAIM5PRUJLL24DV7QYOO", "length": <bytes">, "offset": "117273", "filename": "WEB-20150914222031256-00000.warc.gz"}`},
	{
		name: "aws-alb", args: []string{"-f", "aws-alb"},
		line: `https <iso> app/my-loadbalancer/50dc6c495c0c9188 <client>:<port> 10.0.0.1:80 0.086 0.048 0.037 <status> <status> 0 <bytes> "<method> https://` + host + `:443<target> HTTP/1.1" "<agent>" ECDHE-RSA-AES128-GCM-SHA256 TLSv1.2 ` +
			`arn:aws:elasticloadbalancing:us-east-2:123456789012:targetgroup/my-targets/73e2d6bc24d8a067 "Root=1-58337281-1d84f3d73c47ec4e58577259" "` + host + `" "arn:aws:acm:us-east-2:123456789012:certificate/12345678-1234-1234-1234-123456789012" 1 <iso> "authenticate,forward" "-" "-" "10.0.0.1:80" "200" "-" "-" TID_1234abcd5678ef90`,
	},
	{name: "aws-elb", args: []string{"-f", "aws-elb"}, line: `<iso> my-loadbalancer <client>:<port> 10.0.0.1:80 0.000086 0.001048 0.001337 <status> <status> 0 <bytes> "<method> https://` + host + `:443<target> HTTP/1.1" "<agent>" DHE-RSA-AES128-SHA TLSv1.2`},
	{
		name: "aws-s3", args: []string{"-f", "aws-s3"},
		line: `79a59df900b949e55d96a1e698fbacedfd6e09d98eacf8f8d5218e7cd47ef2be amzn-s3-demo-bucket1 [<clf>] <client> 79a59df900b949e55d96a1e698fbacedfd6e09d98eacf8f8d5218e7cd47ef2be 3E57427F3EXAMPLE REST.GET.OBJECT <path> "<method> <target> HTTP/1.1" <status> - <bytes> <bytes> 7 5 "<referer>" "<agent>" - ` +
			`s9lzHYrFp76ZVxRcpX9+5cjAnEH2ROuNkd2BHfIa6UkFVdtjf5mKR3/eTPFvsiP/XV/VLi31234= SigV4 ECDHE-RSA-AES128-GCM-SHA256 AuthHeader ` + host + ` TLSV1.2 - -`,
	},
	{name: "haproxy", args: []string{"-f", "haproxy"}, line: `Feb  6 12:14:14 localhost haproxy[14389]: <client>:<port> [<ms>] http-in~ static/srv1 10/0/30/69/109 <status> <bytes> - - ---- 1/1/1/1/0 0/0 {` + host + `} {} "<method> <target> HTTP/1.1"`},
	{name: "squid", args: []string{"-f", "squid"}, line: `<epoch>    310 <client> TCP_MISS/<status> <bytes> <method> https://` + host + `<target> - HIER_DIRECT/192.0.2.80 text/html`},
	{name: "envoy", args: []string{"-f", "envoy"}, line: `[<iso>] "<method> <target> HTTP/1.1" <status> - 154 <bytes> 226 100 "<client>" "<agent>" "cc21d9b0-cf5c-432b-8c7e-98aeb7988cd2" "` + host + `" "10.0.2.1:80"`},
	{
		name: "istio", args: []string{"-f", "istio"},
		line: `[<iso>] "<method> <target> HTTP/1.1" <status> - via_upstream - "-" 0 <bytes> 3 1 "-" "<agent>" "84961386-6d84-929d-98bd-c5aee93b5c88" "` + host + `" "127.0.0.1:80" inbound|8000|| 127.0.0.1:41854 10.44.1.27:80 <client>:<port> outbound_.8000_._.httpbin.example.com default`,
	},
	{name: "uwsgi", args: []string{"-f", "uwsgi"}, line: `[pid: 12475|app: 0|req: <n>/<n>] <client> () {34 vars in 617 bytes} [Sun Mar 13 22:49:12 2016] <method> <target> => generated <bytes> bytes in 68 msecs (HTTP/1.1 <status>) 9 headers in 373 bytes (1 switches on core 8)`},
	{name: "confluence", args: []string{"-f", "confluence"}, line: `[<clf>] bob http-nio-8090-exec-6 <client> <method> <target> HTTP/1.1 <status> 20ms <bytes> <word-referer> <agent>`},
	{name: "nginx-proxy-manager", args: []string{"-f", "nginx-proxy-manager"}, line: `[<clf>] - <status> <status> - <method> https ` + host + ` "<target>" [Client <client>] [Length <bytes>] [Gzip -] [Sent-to 10.0.0.15] "<agent>" "<referer>"`},
	{
		name: "gcs", args: []string{"-f", "gcs"},
		head: `"time_micros","c_ip","c_ip_type","c_ip_region","cs_method","cs_uri","sc_status","cs_bytes","sc_bytes","time_taken_micros","cs_host","cs_referer","cs_user_agent","s_request_id","cs_operation","cs_bucket","cs_object"` + "\n",
		line: `"1793600700123456","<client>","1","","<method>","<target>","<status>","0","<bytes>","55000","` + host + `","<referer>","<agent>","AEnB2Uq","GET_Object","example-bucket","a"`,
	},
	{
		name: "caddy", args: []string{"-f", "caddy"},
		line: `{"level":"info","ts":<epoch>,"logger":"http.log.access.log0","msg":"handled request","request":{"remote_ip":<client">,"remote_port":<port">,"client_ip":<client">,"proto":"HTTP/2.0","method":<method">,"host":"` + host + `","uri":<target">,"headers":{"User-Agent":[<agent">],"Referer":[<referer">],"Accept":["*/*"]},` +
			`"tls":{"resumed":false,"version":772,"cipher_suite":4865,"proto":"h2","server_name":"` + host + `"}},"bytes_read":0,"user_id":"","duration":0.000929675,"size":<bytes>,"status":<status>,"resp_headers":{"Server":["Caddy"],"Content-Type":["text/html"]}}`,
	},
	{
		name: "traefik", args: []string{"-f", "traefik"},
		line: `{"ClientAddr":"<client>:<port>","ClientHost":<client">,"ClientPort":<port">,"ClientUsername":"-","DownstreamContentSize":<bytes>,"DownstreamStatus":<status>,"Duration":1234567,"OriginContentSize":<bytes>,"OriginDuration":1200000,"OriginStatus":<status>,"Overhead":34567,"RequestAddr":"` + host + `","RequestContentSize":0,"RequestCount":<n>,"RequestHost":"` + host + `","RequestMethod":<method">,"RequestPath":<target">,` +
			`"RequestPort":"-","RequestProtocol":"HTTP/2.0","RequestScheme":"https","RetryAttempts":0,"RouterName":"shop@docker","ServiceAddr":"10.0.0.2:80","ServiceName":"shop@docker","ServiceURL":"http://10.0.0.2:80","StartLocal":<iso">,"StartUTC":<iso">,"TLSCipher":"TLS_AES_128_GCM_SHA256","TLSVersion":"1.3","entryPointName":"websecure","level":"info","msg":"","request_Referer":<referer">,"request_User-Agent":<agent">,"time":<iso">}`,
	},
	{
		name: "envoy-json", args: []string{"-f", "envoy-json"},
		line: `{"authority":"` + host + `","bytes_received":0,"bytes_sent":<bytes>,"connection_termination_details":null,"downstream_local_address":"10.0.45.184:8000","downstream_remote_address":"<client>:<port>","duration":4,"method":<method">,"path":<target">,"protocol":"HTTP/1.1","request_id":"84961386-6d84-929d-98bd-c5aee93b5c88","requested_server_name":null,"response_code":<status>,"response_code_details":"via_upstream","response_flags":"-","route_name":"default","start_time":<iso">,` +
			`"upstream_cluster":"outbound|8000||shop.default.svc.cluster.local","upstream_host":"10.44.1.27:80","upstream_local_address":"10.44.1.23:37652","upstream_service_time":"4","upstream_transport_failure_reason":null,"user_agent":<agent">,"x_forwarded_for":<client">}`,
	},
	{
		name: "gcp-lb", args: []string{"-f", "gcp-lb"},
		line: `{"insertId":"1oek5rg3l3fxj0","jsonPayload":{"@type":"type.googleapis.com/google.cloud.loadbalancing.type.LoadBalancerLogEntry","statusDetails":"response_sent_by_backend"},"httpRequest":{"requestMethod":<method">,"requestUrl":"https://` + host + `<target">,"requestSize":"577","status":<status>,"responseSize":<bytes">,"userAgent":<agent">,"remoteIp":"<client>:<port>","referer":<referer">,"serverIp":"10.5.3.1","latency":"0.050s","protocol":"HTTP/2.0"},` +
			`"resource":{"type":"http_load_balancer","labels":{"zone":"global","url_map_name":"URL_MAP_NAME","forwarding_rule_name":"FORWARDING_RULE_NAME","target_proxy_name":"TARGET_PROXY_NAME","backend_service_name":"","project_id":"PROJECT_ID"}},"timestamp":<iso">,"severity":"INFO","logName":"projects/PROJECT_ID/logs/requests","trace":"projects/PROJECT_ID/traces/241d69833e64b3bf83fabac8c873d992","receiveTimestamp":<iso">,"spanId":"7b6537d3672e08e1"}`,
	},
	{
		name: "azure-front-door", args: []string{"-f", "azure-front-door"},
		line: `{"time":<iso">,"resourceId":"` + subscription + `/MICROSOFT.CDN/PROFILES/SHOP","category":"FrontDoorAccessLog","operationName":"Microsoft.Cdn/Profiles/AccessLog/Write","properties":{"trackingReference":"0k1y5YQAAAAAWd0Uc6UcnR7WN8uo2prY0U0lO","httpMethod":<method">,"httpVersion":"2.0","requestUri":"https://` + host + `:443<target">,"sni":"` + host + `","requestBytes":"1984","responseBytes":<bytes">,"userAgent":<agent">,"clientIp":<client">,"clientPort":<port">,` +
			`"socketIp":<client">,"timeToFirstByte":"0.120","timeTaken":"0.120","requestProtocol":"HTTPS","securityProtocol":"TLS 1.3","rulesEngineMatchNames":[],"httpStatusCode":<status">,"edgeActionsStatusCode":"","httpStatusDetails":<status">,"pop":"SIN","cacheStatus":"CONFIG_NOCACHE","errorInfo":"NoError","ErrorInfo":"NoError","result":"N/A","endpoint":"shop.z01.azurefd.net","routingRuleName":"shop","hostName":"` + host + `","originUrl":"https://shop.azurewebsites.net:443/","originIp":"203.0.113.1:443","originName":"shop.azurewebsites.net:443","referer":<referer">,"clientCountry":"Germany","domain":"` + host + `:443"}}`,
	},
	{
		name: "azure-app-gateway", args: []string{"-f", "azure-app-gateway"},
		line: `{"timeStamp":<iso">,"resourceId":"` + subscription + `/MICROSOFT.NETWORK/APPLICATIONGATEWAYS/SHOP","listenerName":"https","ruleName":"shop","backendPoolName":"shop","backendSettingName":"https","operationName":"ApplicationGatewayAccess","category":"ApplicationGatewayAccessLog","properties":{"instanceId":"appgw_1","clientIP":<client">,"clientPort":<port>,"httpMethod":<method">,"originalRequestUriWithArgs":<target">,"requestUri":<path">,"requestQuery":<query">,"userAgent":<agent">,` +
			`"httpStatus":<status>,"httpVersion":"HTTP/1.1","receivedBytes":65,"sentBytes":<bytes>,"clientResponseTime":0,"timeTaken":0.02,"WAFEvaluationTime":"0.000","WAFMode":"Detection","transactionId":"592d1649f75a8d480a3c4dc6a9753090","sslEnabled":"on","sslCipher":"ECDHE-RSA-AES256-GCM-SHA384","sslProtocol":"TLSv1.2","serverRouted":"203.0.113.2:443","serverStatus":<status">,"serverResponseLatency":"0.028","upstreamSourcePort":"21564","originalHost":"` + host + `","host":"backend.example.org"}}`,
	},
	{
		name: "cloudflare", args: []string{"-f", "cloudflare"},
		line: `{"ClientIP":<client">,"ClientRequestHost":"` + host + `","ClientRequestMethod":<method">,"ClientRequestPath":<path">,"ClientRequestProtocol":"HTTP/2","ClientRequestReferer":<referer">,"ClientRequestScheme":"https","ClientRequestURI":<target">,"ClientRequestUserAgent":<agent">,"EdgeEndTimestamp":<iso">,"EdgeResponseBytes":<bytes>,"EdgeResponseStatus":<status>,"EdgeStartTimestamp":<iso">,"RayID":"48b371889c489b20"}`,
	},
	{
		name: "suricata-eve", args: []string{"-f", "suricata-eve"},
		line: `{"timestamp":<iso">,"flow_id":586497171462735,"pcap_cnt":53381,"event_type":"http","src_ip":<client">,"src_port":<port>,"dest_ip":"198.51.100.1","dest_port":80,"proto":"TCP","tx_id":0,"http":{"hostname":"` + host + `","url":<target">,"http_user_agent":<agent">,"http_content_type":"text/html","http_refer":<referer">,"http_method":<method">,"protocol":"HTTP/1.1","status":<status>,"length":<bytes>}}`,
	},
	{
		name: "zeek-json", args: []string{"-f", "zeek-json"},
		line: `{"ts":<epoch>,"uid":"C5bLoe2Mvxqhawzqqd","id.orig_h":<client">,"id.orig_p":<port>,"id.resp_h":"198.51.100.1","id.resp_p":80,"trans_depth":1,"method":<method">,"host":"` + host + `","uri":<target">,"referrer":<referer">,"version":"1.1","user_agent":<agent">,"request_body_len":0,"response_body_len":<bytes>,"status_code":<status>,"status_msg":"OK","tags":[],"resp_fuids":["FEEsZS1w0Z0VJIb5x4"],"resp_mime_types":["text/plain"]}`,
	},
	{
		name: "nginx-json", args: []string{"-f", "nginx-json"},
		line: `{"time_iso8601":<iso">,"remote_addr":<client">,"remote_user":"","scheme":"https","http_host":"` + host + `","request_method":<method">,"request_uri":<target">,"args":<query">,"server_protocol":"HTTP/2.0","status":<status">,"body_bytes_sent":<bytes">,"request_time":"0.000","http_referer":<referer">,"http_user_agent":<agent">,"request_id":"0123456789abcdef0123456789abcde0"}`,
	},
}

// write writes lines of the form until the file has size bytes.
func (f *form) write(file string, requests []request, size int) (lines, bytes int, err error) {
	out, err := os.Create(file)
	if err != nil {
		return 0, 0, err
	}
	w := bufio.NewWriterSize(out, 1<<20)
	n, _ := w.WriteString(f.head)
	for bytes = n; bytes < size; lines++ {
		n, _ = w.WriteString(f.fill(requests[lines%len(requests)]))
		bytes += n
	}
	if err := w.Flush(); err != nil {
		return 0, 0, err
	}
	return lines, bytes, out.Close()
}

// fill returns the line for a request.
func (f *form) fill(r request) string {
	var b strings.Builder
	for rest := f.line; ; {
		text, after, ok := strings.Cut(rest, "<")
		b.WriteString(text)
		if !ok {
			break
		}
		var name string
		name, rest, _ = strings.Cut(after, ">")
		value, ok := r[name]
		if !ok {
			panic("unknown placeholder <" + name + "> in the form " + f.name)
		}
		if strings.HasSuffix(name, `"`) && endsInString(text) {
			value = value[1:] // the string begins before the placeholder
		}
		b.WriteString(value)
	}
	b.WriteByte('\n')
	return b.String()
}

// endsInString reports whether text ends inside of the URL of a JSON string.
func endsInString(text string) bool {
	return strings.HasSuffix(text, host) || strings.HasSuffix(text, host+":443")
}

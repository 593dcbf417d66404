package jsonlines

import (
	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// Log describes a format whose records are JSON objects with fields of
// known names. Each list holds alternatives in the syntax of Config.URLField;
// the first field with a value is used.
type Log struct {
	ID string
	// Landmarks are the fields that a record must have: one of each list.
	Landmarks [][]string
	// Wrapped is the name of the member that holds an array of records, if the
	// format can have several of them in one line.
	Wrapped string
	// plain is set if the scheme is http unless the record says otherwise.
	plain bool
	// whole is set if a URL in the part UseURL may lack its scheme.
	whole bool
	// foreign begins the first parameter of a query that the server made up.
	foreign string
	Parts   []Part
	// About says where the log comes from, doc is the address of its reference,
	// and note says what a reader of the documentation must know besides.
	About, Doc, Note string
}

// Logs holds the formats in the order in which they are listed. In
// detection, the first one of several fitting formats wins, so that those with
// fewer landmarks are last.
var Logs = []Log{
	{
		ID: "caddy", About: "Caddy's access log", Doc: "https://caddyserver.com/docs/logging",
		Note:      "A member `request.tls` means that the scheme is https. Lines of other loggers have no URL and pass through. Of several headers with one name, the first one counts.",
		Landmarks: [][]string{{"request.method"}, {"request.uri"}, {"request.proto"}},
		Parts: []Part{
			part(locate.UseTarget, "request.uri"),
			part(locate.UseHost, "request.host"),
			part(locate.UseTLS, "request.tls"),
			part(locate.UseMethod, "request.method"),
			part(locate.UseReferer, "request.headers.Referer[0]"),
			part(locate.UseTime, "ts"),
			part(locate.UseStatus, "status"),
			part(locate.UseBytes, "size"),
			part(locate.UseDuration, "duration"),
			part(locate.UseClient, "request.client_ip", "request.remote_ip", "request.remote_addr"),
			part(locate.UseAgent, "request.headers.User-Agent[0]"),
			part(locate.UseRequestID, "uuid", "request.headers.X-Request-Id[0]"),
		},
	},
	{
		ID: "traefik", About: "Traefik's access log with `format: json`", Doc: "https://doc.traefik.io/traefik/observability/access-logs/",
		Note:      "Traefik logs the headers only if its configuration keeps them. The fields `RequestAddr` and `RequestLine` of older versions repeat parts of the URL; `rewrite` leaves them as they are.",
		Landmarks: [][]string{{"RequestPath"}, {"RequestMethod", "RequestHost", "RequestAddr"}},
		Parts: []Part{
			part(locate.UseTarget, "RequestPath"),
			part(locate.UseScheme, "RequestScheme"),
			part(locate.UseHost, "RequestHost", "RequestAddr"),
			part(locate.UsePort, "RequestPort"),
			part(locate.UseMethod, "RequestMethod"),
			part(locate.UseReferer, "request_Referer"),
			part(locate.UseTime, "StartUTC", "StartLocal", "time"),
			part(locate.UseStatus, "DownstreamStatus"),
			part(locate.UseBytes, "DownstreamContentSize"),
			duration(9, "Duration"),
			part(locate.UseClient, "ClientHost", "ClientAddr"),
			part(locate.UseAgent, "request_User-Agent"),
			part(locate.UseRequestID, "request_X-Request-Id", "TraceId"),
		},
	},
	{
		ID: "envoy-json", About: "JSON access logs of Envoy, Istio and Envoy Gateway", Doc: "https://www.envoyproxy.io/docs/envoy/latest/configuration/observability/access_log/usage",
		Note:      "The names of the fields are up to the configuration of Envoy. These are the names of Istio, Envoy Gateway, and the documentation of Envoy.",
		Landmarks: [][]string{{"response_flags", "downstream_remote_address", "upstream_host", "upstream_cluster"}, envoyPaths, {"method", ":method"}},
		Parts: []Part{
			part(locate.UseTarget, envoyPaths...),
			part(locate.UseScheme, "scheme", ":scheme", "x_forwarded_proto", "x-forwarded-proto"),
			part(locate.UseHost, "authority", ":authority"),
			part(locate.UseMethod, "method", ":method"),
			part(locate.UseReferer, "referer", "referrer"),
			part(locate.UseTime, "start_time", "timestamp"),
			part(locate.UseStatus, "response_code", "status"),
			part(locate.UseBytes, "bytes_sent"),
			duration(3, "duration"),
			part(locate.UseClient, "x_forwarded_for", "x-forwarded-for", "downstream_remote_address"),
			part(locate.UseAgent, "user_agent", "user-agent"),
			part(locate.UseRequestID, "request_id", "x_request_id", "x-request-id"),
		},
	},
	{
		ID: "gcp-lb", About: "request logs of Google Cloud load balancers", Doc: "https://cloud.google.com/load-balancing/docs/https/https-logging-monitoring",
		Note:      "Records of other services pass through without a URL, unless they have the field `httpRequest.requestUrl`.",
		Landmarks: [][]string{{"httpRequest.requestUrl"}, {"httpRequest.requestMethod"}},
		Parts: []Part{
			part(locate.UseTarget, "httpRequest.requestUrl"),
			part(locate.UseMethod, "httpRequest.requestMethod"),
			part(locate.UseReferer, "httpRequest.referer"),
			part(locate.UseTime, "timestamp"),
			part(locate.UseStatus, "httpRequest.status"),
			part(locate.UseBytes, "httpRequest.responseSize"),
			duration(locate.NoUnit, "httpRequest.latency"),
			part(locate.UseClient, "httpRequest.remoteIp"),
			part(locate.UseAgent, "httpRequest.userAgent"),
			part(locate.UseRequestID, "insertId"),
		},
	},
	{
		ID: "azure-front-door", About: "access logs of Azure Front Door and of Azure CDN from Microsoft", Doc: "https://learn.microsoft.com/azure/frontdoor/monitor-front-door-reference",
		Note:      "Records of other categories pass through without a URL.",
		Landmarks: [][]string{{"properties.requestUri"}, {"properties.trackingReference"}},
		Wrapped:   "records",
		Parts: []Part{
			part(locate.UseTarget, "properties.requestUri"),
			part(locate.UseHost, "properties.hostName"),
			part(locate.UseMethod, "properties.httpMethod"),
			part(locate.UseReferer, "properties.referer", "properties.referrer"),
			part(locate.UseTime, "time"),
			part(locate.UseStatus, "properties.httpStatusCode"),
			part(locate.UseBytes, "properties.responseBytes"),
			part(locate.UseDuration, "properties.timeTaken"),
			part(locate.UseClient, "properties.clientIp"),
			part(locate.UseAgent, "properties.userAgent"),
			part(locate.UseRequestID, "properties.trackingReference"),
		},
	},
	{
		ID: "azure-app-gateway", About: "access logs of Azure Application Gateway, v1 and v2", Doc: "https://learn.microsoft.com/azure/application-gateway/monitor-application-gateway-reference",
		Note:      "`originalRequestUriWithArgs` is the target before the gateway rewrites it; older records lack it. `requestQuery` of v1 gateways holds routing data, which starts with `X-AzureApplicationGateway-`; urlfold ignores that. The record does not tell the scheme, so set it with `--base https://{host}/`. `timeTaken` is in milliseconds without a decimal point, as in v1, and in seconds otherwise.",
		Landmarks: [][]string{{"properties.requestUri"}, {"properties.httpMethod"}, {"properties.httpStatus"}},
		Wrapped:   "records",
		foreign:   "X-AzureApplicationGateway-",
		Parts: []Part{
			part(locate.UseTarget, "properties.originalRequestUriWithArgs"),
			part(locate.UsePath, "properties.requestUri"),
			part(locate.UseQuery, "properties.requestQuery"),
			part(locate.UseHost, "properties.originalHost", "properties.host", "properties.hostname"),
			part(locate.UseMethod, "properties.httpMethod"),
			part(locate.UseTime, "timeStamp", "time", "timestamp"),
			part(locate.UseStatus, "properties.httpStatus"),
			part(locate.UseBytes, "properties.sentBytes"),
			duration(locate.MsUnlessDecimal, "properties.timeTaken"),
			part(locate.UseClient, "properties.clientIP"),
			part(locate.UseAgent, "properties.userAgent"),
			part(locate.UseRequestID, "properties.transactionId"),
		},
	},
	{
		ID: "cloudflare", About: "HTTP requests and firewall events of Cloudflare Logpush", Doc: "https://developers.cloudflare.com/logs/logpush/logpush-job/datasets/zone/http_requests/",
		Note:      "The Logpush job selects the fields. Without `ClientRequestURI`, the path is `ClientRequestPath` and the query is `ClientRequestQuery`, which only firewall events have. Logpush has no field for the duration of a request.",
		Landmarks: [][]string{{"ClientRequestURI", "ClientRequestPath"}, {"ClientRequestHost", "RayID", "EdgeStartTimestamp"}},
		Parts: []Part{
			part(locate.UseTarget, "ClientRequestURI"),
			part(locate.UsePath, "ClientRequestPath"),
			part(locate.UseQuery, "ClientRequestQuery"),
			part(locate.UseScheme, "ClientRequestScheme"),
			part(locate.UseHost, "ClientRequestHost"),
			part(locate.UseMethod, "ClientRequestMethod"),
			part(locate.UseReferer, "ClientRequestReferer"),
			part(locate.UseTime, "EdgeStartTimestamp", "Datetime"),
			part(locate.UseStatus, "EdgeResponseStatus"),
			part(locate.UseBytes, "EdgeResponseBytes"),
			part(locate.UseClient, "ClientIP"),
			part(locate.UseAgent, "ClientRequestUserAgent"),
			part(locate.UseRequestID, "RayID"),
		},
	},
	{
		ID: "suricata-eve", About: "Suricata's eve.json", Doc: "https://docs.suricata.io/en/latest/output/eve/eve-json-format.html",
		Note:      "Events of other types pass through without a URL. The scheme is http, because Suricata sees only decrypted traffic.",
		Landmarks: [][]string{{"event_type"}, {"timestamp"}, {"src_ip"}},
		plain:     true,
		Parts: []Part{
			part(locate.UseTarget, "http.url"),
			part(locate.UseHost, "http.hostname"),
			part(locate.UsePort, "http.http_port"),
			part(locate.UseMethod, "http.http_method"),
			part(locate.UseReferer, "http.http_refer"),
			part(locate.UseTime, "timestamp"),
			part(locate.UseStatus, "http.status"),
			part(locate.UseBytes, "http.length"),
			part(locate.UseClient, "src_ip"),
			part(locate.UseAgent, "http.http_user_agent"),
			part(locate.UseRequestID, "flow_id"),
		},
	},
	{
		ID: "zeek-json", About: "Zeek's http.log in JSON", Doc: "https://docs.zeek.org/en/master/logs/http.html",
		Note:      "Zeek percent-decodes `uri`. The scheme is http. Zeek up to 4.0 removes the port from `host`.",
		Landmarks: [][]string{{`"id.orig_h"`, "id.orig_h", "id_orig_h"}, {"trans_depth"}},
		plain:     true,
		Parts: []Part{
			part(locate.UseTarget, "uri"),
			part(locate.UseHost, "host"),
			part(locate.UseMethod, "method"),
			part(locate.UseReferer, "referrer"),
			part(locate.UseTime, "ts"),
			part(locate.UseStatus, "status_code"),
			part(locate.UseBytes, "response_body_len"),
			part(locate.UseClient, `"id.orig_h"`, "id.orig_h", "id_orig_h"),
			part(locate.UseAgent, "user_agent"),
			part(locate.UseRequestID, "uid"),
		},
	},
	{
		ID: "aws-waf", About: "AWS WAF's log of web ACL traffic", Doc: "https://docs.aws.amazon.com/waf/latest/developerguide/logging-fields.html", // read 2026-11-29
		Note:      "Older records lack `httpRequest.host`; the header `Host` replaces it.",
		Landmarks: [][]string{{"webaclId"}, {"httpRequest.uri"}, {"httpRequest.httpMethod"}},
		Parts: []Part{
			part(locate.UsePath, "httpRequest.uri"),
			part(locate.UseQuery, "httpRequest.args"),
			part(locate.UseScheme, "httpRequest.scheme"),
			part(locate.UseHost, "httpRequest.host", "httpRequest.headers[=Host]"),
			part(locate.UseMethod, "httpRequest.httpMethod"),
			part(locate.UseReferer, "httpRequest.headers[=Referer]"),
			part(locate.UseTime, "timestamp"),
			part(locate.UseStatus, "responseCodeSent"),
			part(locate.UseClient, "httpRequest.clientIp"),
			part(locate.UseAgent, "httpRequest.headers[=User-Agent]"),
			part(locate.UseRequestID, "httpRequest.requestId"),
		},
	},
	{
		ID: "cloudfront-json", About: "CloudFront's standard logs (v2) and real-time logs in JSON", Doc: "https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/standard-logging.html", // read 2026-11-29
		Note:      "The delivery selects the fields. `x-host-header` is the site, `cs(Host)` the distribution. `date` and `time`, which are apart, are not read as the time.",
		Landmarks: [][]string{{"cs-uri-stem"}, {"cs-method", "sc-status"}, {"x-edge-location", "x-edge-request-id", "x-edge-result-type", "cs(Host)", "cs-host", "x-host-header"}},
		Parts: []Part{
			part(locate.UsePath, "cs-uri-stem"),
			part(locate.UseQuery, "cs-uri-query"),
			part(locate.UseScheme, "cs-protocol"),
			part(locate.UseHost, "x-host-header", "cs(Host)", "cs-host"),
			part(locate.UseMethod, "cs-method"),
			part(locate.UseReferer, "cs(Referer)", "cs-referer"),
			part(locate.UseTime, "timestamp", "timestamp(ms)"),
			part(locate.UseStatus, "sc-status"),
			part(locate.UseBytes, "sc-bytes"),
			part(locate.UseDuration, "time-taken"),
			part(locate.UseClient, "c-ip"),
			part(locate.UseAgent, "cs(User-Agent)", "cs-user-agent"),
			part(locate.UseRequestID, "x-edge-request-id"),
		},
	},
	{
		ID: "aws-cloudtrail", About: "events of AWS CloudTrail", Doc: "https://docs.aws.amazon.com/awscloudtrail/latest/userguide/cloudtrail-event-reference-record-contents.html", // read 2026-11-29
		Note:      "Only sign-ins to the console have a URL: the page that follows.",
		Landmarks: [][]string{{"eventSource"}, {"eventName"}, {"awsRegion"}, {"eventTime"}},
		Parts: []Part{
			part(locate.UseTarget, "additionalEventData.LoginTo"),
			part(locate.UseTime, "eventTime"),
			part(locate.UseClient, "sourceIPAddress"),
			part(locate.UseAgent, "userAgent"),
			part(locate.UseRequestID, "requestID", "eventID"),
		},
	},
	{
		ID: "akamai-datastream", About: "Akamai DataStream 2 in JSON", Doc: "https://techdocs.akamai.com/datastream2/docs/data-set-parameters", // read 2026-11-29
		Note:      "The stream selects the fields. Akamai percent-encodes `UA` and the whole of `referer`, so urlfold does not read the referer as a URL.",
		Landmarks: [][]string{{"reqPath"}, {"reqHost", "cliIP"}, {"reqTimeSec", "reqId", "cp", "streamId"}},
		Parts: []Part{
			part(locate.UsePath, "reqPath"),
			part(locate.UseQuery, "queryStr"),
			part(locate.UseHost, "reqHost"),
			part(locate.UsePort, "reqPort"),
			part(locate.UseMethod, "reqMethod"),
			part(locate.UseTime, "reqTimeSec"),
			part(locate.UseStatus, "statusCode"),
			part(locate.UseBytes, "bytes", "totalBytes"),
			duration(3, "transferTimeMSec"),
			part(locate.UseClient, "cliIP"),
			part(locate.UseAgent, "UA"),
			part(locate.UseRequestID, "reqId"),
		},
	},
	{
		ID: "akamai-siem", About: "security events of Akamai's SIEM integration", Doc: "https://techdocs.akamai.com/siem-integration/reference/api", // read 2026-11-29
		Note:      "The offset at the end of an answer passes through without a URL. `requestHeaders` is one percent-encoded text, so the referer and the agent are not read.",
		Landmarks: [][]string{{"httpMessage.path"}, {"httpMessage.host"}, {"attackData.configId", "attackData.policyId", "attackData.clientIP"}},
		Parts: []Part{
			part(locate.UsePath, "httpMessage.path"),
			part(locate.UseQuery, "httpMessage.query"),
			part(locate.UseHost, "httpMessage.host"),
			part(locate.UsePort, "httpMessage.port"),
			part(locate.UseMethod, "httpMessage.method"),
			part(locate.UseTime, "httpMessage.start"),
			part(locate.UseStatus, "httpMessage.status"),
			part(locate.UseBytes, "httpMessage.bytes"),
			part(locate.UseClient, "attackData.clientIP"),
			part(locate.UseRequestID, "httpMessage.requestId"),
		},
	},
	{
		ID: "azure-storage", About: "resource logs of Azure Storage", Doc: "https://learn.microsoft.com/azure/storage/blobs/monitor-blob-storage-reference", // read 2026-11-29
		Note:      "Records of other categories pass through without a URL.",
		Landmarks: [][]string{{"uri"}, {"operationName"}, {"callerIpAddress"}, {"properties.accountName", "properties.serviceType"}},
		Wrapped:   "records",
		Parts: []Part{
			part(locate.UseTarget, "uri"),
			part(locate.UseReferer, "properties.referrerHeader"),
			part(locate.UseTime, "time"),
			part(locate.UseStatus, "statusCode"),
			part(locate.UseBytes, "properties.responseBodySize"),
			duration(3, "durationMs"),
			part(locate.UseClient, "callerIpAddress"),
			part(locate.UseAgent, "properties.userAgentHeader"),
			part(locate.UseRequestID, "correlationId"),
		},
	},
	{
		ID: "azure-key-vault", About: "audit events of Azure Key Vault", Doc: "https://learn.microsoft.com/azure/key-vault/general/logging", // read 2026-11-29
		Note:      "Records of other categories pass through without a URL.",
		Landmarks: [][]string{{"properties.requestUri"}, {"operationName"}, {"callerIpAddress"}},
		Wrapped:   "records",
		Parts: []Part{
			part(locate.UseTarget, "properties.requestUri"),
			part(locate.UseTime, "time"),
			part(locate.UseStatus, "properties.httpStatusCode"),
			duration(3, "durationMs"),
			part(locate.UseClient, "callerIpAddress"),
			part(locate.UseAgent, "properties.clientInfo"),
			part(locate.UseRequestID, "correlationId"),
		},
	},
	{
		ID: "kubernetes-audit", About: "audit events of the Kubernetes API server", Doc: "https://kubernetes.io/docs/reference/config-api/apiserver-audit.v1/", // read 2026-11-29
		Note:      "The record does not name the server: set it with `--base`. `verb` is an action of Kubernetes, not the method of the request.",
		Landmarks: [][]string{{"requestURI"}, {"verb"}, {"auditID"}},
		Parts: []Part{
			part(locate.UseTarget, "requestURI"),
			part(locate.UseTime, "requestReceivedTimestamp"),
			part(locate.UseStatus, "responseStatus.code"),
			part(locate.UseClient, "sourceIPs[0]"),
			part(locate.UseAgent, "userAgent"),
			part(locate.UseRequestID, "auditID"),
		},
	},
	{
		ID: "cloudflare-gateway", About: "HTTP requests of Cloudflare Gateway, by Logpush", Doc: "https://developers.cloudflare.com/logs/logpush/logpush-job/datasets/account/gateway_http/", // read 2026-11-29
		Note:      "The Logpush job selects the fields.",
		Landmarks: [][]string{{"URL"}, {"HTTPMethod", "HTTPHost"}, {"SourceIP", "DeviceID", "PolicyID", "Datetime"}},
		Parts: []Part{
			part(locate.UseTarget, "URL"),
			part(locate.UseMethod, "HTTPMethod"),
			part(locate.UseReferer, "Referer"),
			part(locate.UseTime, "Datetime"),
			part(locate.UseStatus, "HTTPStatusCode"),
			part(locate.UseClient, "SourceIP"),
			part(locate.UseAgent, "UserAgent"),
			part(locate.UseRequestID, "RequestID"),
		},
	},
	{
		ID: "zscaler", About: "web logs of Zscaler's Nanolog Streaming Service in JSON", Doc: "https://help.zscaler.com/zia/nss-feed-output-format-web-logs", // read 2026-11-29
		Note:      "The names of the fields are up to the feed; these are the usual ones. Zscaler writes URLs without a scheme.",
		Landmarks: [][]string{{"event.url"}, {"event.requestmethod", "event.reqmethod", "event.hostname"}, {"event.urlcategory", "event.serverip", "event.ClientIP", "event.urlclass"}},
		whole:     true,
		Parts: []Part{
			part(locate.UseURL, "event.url"),
			part(locate.UseMethod, "event.requestmethod", "event.reqmethod"),
			part(locate.UseTime, "event.datetime", "event.time"),
			part(locate.UseStatus, "event.status", "event.respcode"),
			part(locate.UseBytes, "event.responsesize", "event.respsize"),
			part(locate.UseClient, "event.ClientIP"),
			part(locate.UseAgent, "event.useragent"),
			part(locate.UseRequestID, "event.event_id", "event.recordid"),
		},
	},
	{
		ID: "paloalto-url", About: "URL logs of Palo Alto Networks, by log forwarding in JSON", Doc: "https://docs.paloaltonetworks.com/cortex/cortex-data-lake/cortex-data-lake-getting-started/get-started-with-log-forwarding-app/forward-logs-to-an-https-server", // read 2026-11-29
		Note:      "The firewall writes URLs without a scheme.",
		Landmarks: [][]string{{"event.URL", "URL"}, {"event.LogType", "LogType"}, {"event.SourceAddress", "SourceAddress"}},
		whole:     true,
		Parts: []Part{
			part(locate.UseURL, "event.URL", "URL"),
			part(locate.UseMethod, "event.HTTPMethod", "HTTPMethod"),
			part(locate.UseTime, "event.TimeGenerated", "TimeGenerated"),
			part(locate.UseClient, "event.SourceAddress", "SourceAddress"),
		},
	},
	{
		ID: "modsecurity-json", About: "audit logs of ModSecurity 3 and Coraza in JSON", Doc: "https://github.com/owasp-modsecurity/ModSecurity/wiki/Reference-Manual-(v3.x)", // read 2026-11-29
		Note:      "ModSecurity writes a header as a text, Coraza as an array. `time_stamp` of ModSecurity is not read as the time.",
		Landmarks: [][]string{{"transaction.request.uri"}, {"transaction.client_ip"}},
		Parts: []Part{
			part(locate.UseTarget, "transaction.request.uri"),
			part(locate.UseHost, "transaction.request.headers.Host", "transaction.request.headers.host", "transaction.request.headers.Host[0]", "transaction.request.headers.host[0]", "transaction.request.hostname"),
			part(locate.UseMethod, "transaction.request.method"),
			part(locate.UseReferer, "transaction.request.headers.Referer", "transaction.request.headers.referer", "transaction.request.headers.Referer[0]", "transaction.request.headers.referer[0]"),
			part(locate.UseTime, "transaction.unix_timestamp"),
			part(locate.UseStatus, "transaction.response.http_code", "transaction.response.status"),
			part(locate.UseClient, "transaction.client_ip"),
			part(locate.UseAgent, "transaction.request.headers.User-Agent", "transaction.request.headers.user-agent", "transaction.request.headers.User-Agent[0]", "transaction.request.headers.user-agent[0]"),
			part(locate.UseRequestID, "transaction.unique_id", "transaction.id"),
		},
	},
	{
		ID: "har", About: "the entries of an HTTP archive (HAR 1.2)", Doc: "https://github.com/ahmadnassri/har-spec/blob/master/versions/1.2.md", // read 2026-11-29
		Note:      "URLs without a request, such as `data:` and `blob:`, are not read.",
		Landmarks: [][]string{{"request.url"}, {"request.method"}, {"startedDateTime"}},
		Parts: []Part{
			part(locate.UseTarget, "request.url"),
			part(locate.UseMethod, "request.method"),
			part(locate.UseReferer, "request.headers[=Referer]"),
			part(locate.UseTime, "startedDateTime"),
			part(locate.UseStatus, "response.status"),
			part(locate.UseBytes, "response.content.size"),
			duration(3, "time"),
			part(locate.UseAgent, "request.headers[=User-Agent]"),
		},
	},
	{
		ID: "nginx-json", About: "nginx logs with `escape=json` and the usual names", Doc: "https://nginx.org/en/docs/http/ngx_http_log_module.html#log_format",
		Note:      "The names of the fields are up to the `log_format`. These are the names of the usual layouts, and other servers that use them are read too. A `request` that is only a method, as in logs of Fastly, or only a request target is read as such. `uri` is percent-decoded by nginx, so it is the last choice. Only one of the fields with the URL is rewritten.",
		Landmarks: [][]string{{"request_uri", "request", "request_line", "http_request", "uri", "url", "path"}, {"status", "response_status", "response_code"}, {"remote_addr", "remote_ip", "client_ip", "clientip", "ip", "http_x_forwarded_for", "x_forwarded_for"}},
		Parts: []Part{
			part(locate.UseTarget, "request_uri"),
			part(locate.UseRequest, "request", "request_line", "http_request"),
			part(locate.UsePath, "uri", "url", "path", "request_path"),
			part(locate.UseQuery, "args", "query_string", "query", "request_query"),
			part(locate.UseScheme, "scheme", "request_scheme", "http_x_forwarded_proto"),
			part(locate.UseTLS, "https", "is_tls"),
			part(locate.UseHost, "http_host", "host", "vhost", "domain", "server_name"),
			part(locate.UsePort, "server_port"),
			part(locate.UseMethod, "request_method", "method", "http_method", "httpMethod", "verb"),
			part(locate.UseReferer, "http_referer", "http_referrer", "referer", "referrer", "request_referer"),
			part(locate.UseTime, "time_iso8601", "msec", "time_local", "time", "timestamp", "@timestamp", "ts", "date", "time_start", "requestTime"),
			part(locate.UseStatus, "status", "response_status", "response_code"),
			part(locate.UseBytes, "body_bytes_sent", "bytes_sent", "bytes", "size", "length", "bytes_out", "written_bytes", "response_body_size", "responseLength"),
			part(locate.UseDuration, "request_time", "duration", "responsetime", "response_time"),
			part(locate.UseClient, "remote_addr", "remote_ip", "client_ip", "clientip", "ip"),
			part(locate.UseAgent, "http_user_agent", "user_agent", "agent", "useragent", "request_user_agent", "ua"),
			part(locate.UseRequestID, "request_id", "req_id", "http_x_request_id", "requestId"),
		},
	},
}

// envoyPaths are the usual names of the request target in logs of Envoy, whose
// names are up to its configuration.
var envoyPaths = []string{
	"x_envoy_original_path", "x-envoy-original-path", "x_envoy_origin_path", "x-envoy-origin-path", "path", ":path",
}

// Part names the fields that may hold a part of the request.
type Part struct {
	Part   locate.Use
	Unit   int8 // of a duration; see locate.Attr.Unit and MsUnlessDecimal
	Fields []string
}

func part(use locate.Use, fields ...string) Part { return Part{Part: use, Fields: fields} }

func duration(unit int8, fields ...string) Part { return Part{locate.UseDuration, unit, fields} }

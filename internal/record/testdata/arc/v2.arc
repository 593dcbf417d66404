filedesc://EX-000002.arc 0.0.0.0 19970101000000 text/plain 200 - - 0 EX-000002.arc 122
2 0 Example Archive
URL IP-address Archive-date Content-type Result-code Checksum Location Offset Filename Archive-length

HTTP://www.example.com/%7ea 192.0.2.30 19970101000001 text/html 200 0cc175b9c0f1b6a831c399e269772661 - 210 EX-000002.arc 65
HTTP/1.1 200 X
Content-Type: text/html
Content-Length: 3

one
http://www.example.com/old 192.0.2.30 19970101000002 text/html 302 0cc175b9c0f1b6a831c399e269772661 http://WWW.example.com/%7enew 400 EX-000002.arc 62
HTTP/1.1 302 X
Content-Type: text/html
Content-Length: 0


http://www.example.com/missing? 192.0.2.30 19970101000003 text/html 404 0cc175b9c0f1b6a831c399e269772661 - 614 EX-000002.arc 67
HTTP/1.1 404 X
Content-Type: text/html
Content-Length: 5

three

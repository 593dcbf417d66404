filedesc://IA-000001.arc 0.0.0.0 19960923142103 text/plain 76
1 0 Example Archive
URL IP-address Archive-date Content-type Archive-length

HTTP://WWW.Example.com:80/index.html 192.0.2.10 19961104142103 text/html 94
HTTP/1.1 200 OK
Content-Type: text/html
Content-Length: 30

<html>
Hello World!!!
</html>

http://www.example.com/a/../b?q=%c3%a9&x=1 192.0.2.10 19961104142104 text/html 104
HTTP/1.1 200 OK
Content-Type: text/html
Content-Length: 40

x
http://www.Example.com/fake 192.0.2.1

http://www.example.com/search?q=red and blue 192.0.2.10 19961104142105 text/html 102
HTTP/1.1 200 OK
Content-Type: text/html
Content-Length: 38

<a href="HTTP://Example.com/%7e">x</a>
http://www.example.com/? 192.0.2.10 19961104142106 no-type 0

ftp://FTP.example.org/pub/%7efile.txt 198.51.100.7 19961104142107 text/plain 19
line one

line two

http://[2001:DB8::1]:80/ 2001:db8::1 19961104142108 text/html 65
HTTP/1.1 200 OK
Content-Type: text/html
Content-Length: 2

v6
http://www.example.com/ok 192.0.2.10 19961104142109 text/html 72
HTTP/1.1 200 OK
Content-Type: text/html
Content-Length: 9

unchanged

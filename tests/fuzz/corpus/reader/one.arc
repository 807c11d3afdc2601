filedesc://a.arc 0.0.0.0 20000101000000 text/plain 69
1 0 Alexa
URL IP-address Archive-date Content-type Archive-length

http://a/ 1.2.3.4 20000101000000 text/html 46
HTTP/1.0 200 OK
Content-Type: text/html

x


<?php
// A shop: asks its upstream for each answer. What goes wrong is there while a file is.
$on = file_exists(getenv('FLAG'));
$fault = getenv('FAULT');
if ($on && $fault == 'session-lock') { // all baskets are of one session
	session_id('basket' . random_int(1, (int) getenv('SESSIONS')));
	session_start();
	$_SESSION['seen'] = ($_SESSION['seen'] ?? 0) + 1;
}
if ($on && $fault == 'fatal-error' && random_int(1, 1000) <= (int) getenv('SHARE')) {
	$prices = str_repeat('x', 1 << 30);
}
$price = file_get_contents('http://' . getenv('UPSTREAM') . '/price');
header('Content-Length: ' . strlen($price));
echo $price;
